// The package as it stands: its version, its files, its types.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as cupel from "cupel";

const here = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));

test("the version is that of the engine, and there is no dependency", () => {
  assert.equal(manifest.version, cupel.version);
  const names = (field) => Object.keys(manifest[field] ?? {});
  assert.deepEqual([...names("dependencies"), ...names("bundleDependencies")], []);
  // Whoever uses an adapter has its framework; nobody else gets one.
  for (const name of names("peerDependencies")) assert.equal(manifest.peerDependenciesMeta[name].optional, true, name);
});

test("types of answers are those of the engine's schemas", () => {
  execFileSync(process.execPath, [join(here, "tools", "make-types.mjs"), "--check"], { stdio: "inherit" });
});

test("types declare what is exported", () => {
  const types = readFileSync(join(here, "lib", "index.d.cts"), "utf8");
  const declared = [...types.matchAll(/export declare (?:abstract )?(?:class|function|const) (\w+)/g)].map((one) => one[1]);
  const names = new Set(declared.filter((name) => name !== "Window"));
  assert.deepEqual([...names].sort(), Object.keys(cupel).sort());
});

test("the package holds what it needs and nothing that was compiled here", () => {
  const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: here, encoding: "utf8" });
  const [packed] = Object.values(JSON.parse(told)).flat();
  const files = packed.files.map((file) => file.path);
  for (const file of ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "lib/index.cjs", "lib/index.d.cts", "scripts/install.mjs"]) {
    assert.ok(files.includes(file), `${file} is not in ${files}`);
  }
});
