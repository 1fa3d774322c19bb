// What a release would publish installs and works without a compiler, a script or the network.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const { platform } = createRequire(import.meta.url)("../../lib/native.cjs");
const here = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "cupel-release-"));
after(() => rmSync(folder, { recursive: true }));
const run = (program, args, options) => execFileSync(program, args, { encoding: "utf8", cwd: folder, ...options });
const { version } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
// The build for browsers has tests of its own.
const options = ["--repository", "https://host.example/cupel/cupel", "--without-wasm"];
const tarballs = run(process.execPath, [join(here, "release/pack.mjs"), folder, `${platform()}=${join(here, "lib/cupel.node")}`, ...options]).trim().split("\n");

test("a platform's package comes before the one that asks for it", () => {
  assert.deepEqual(tarballs, [`cupel-${platform()}-${version}.tgz`, `cupel-${version}.tgz`]);
  const listed = tarballs.map((tarball) => run("tar", ["-tzf", tarball]).trim().split("\n").map((name) => name.replace("package/", "")));
  assert.deepEqual(listed[0].sort(), ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "cupel.node", "package.json"]);
  assert.ok(listed[1].includes("lib/adapters/ai-sdk.d.cts") && listed[1].includes("README.md"));
  assert.deepEqual(listed[1].filter((name) => !/^(lib\/.*\.[cm](js|ts)|README.md|LICENSE-\w+|package.json)$/.test(name)), []);
});

test("nothing runs when they are installed, and their origin is named", () => {
  for (const tarball of tarballs) {
    const manifest = JSON.parse(run("tar", ["-xzOf", tarball, "package/package.json"]));
    assert.equal(manifest.scripts, undefined);
    assert.equal(manifest.dependencies, undefined);
    assert.equal(manifest.version, version);
    assert.equal(manifest.repository.url, "git+https://host.example/cupel/cupel.git");
  }
});

test("every entry of the package is in its tarball, and it selects from there", () => {
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", ...tarballs.map((name) => `./${name}`)]);
  const installed = join(folder, "node_modules/cupel");
  const { exports: entries } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  const files = (entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(files));
  for (const file of files(entries)) assert.ok(readFileSync(join(installed, file)).length > 0, file);
  const program = `
    import { select } from "cupel";
    import { cupelMiddleware } from "cupel/ai-sdk";
    const messages = [{ role: "user", content: "Hello!" }];
    console.log(select(messages, { maxTokens: 50 }).messages[0] === messages[0], typeof cupelMiddleware().transformParams);`;
  assert.equal(run(process.execPath, ["--input-type=module", "-e", program]), "true function\n");
});

test("a release without the build for browsers says so", (context) => {
  if (existsSync(join(here, "dist/web.mjs"))) return context.skip("it is there");
  const engine = `${platform()}=${join(here, "lib/cupel.node")}`;
  const ran = spawnSync(process.execPath, [join(here, "release/pack.mjs"), folder, engine], { encoding: "utf8" });
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /wasm\/build makes it/);
});

test("an unknown platform is refused", () => {
  const ran = spawnSync(process.execPath, [join(here, "release/pack.mjs"), folder, "beos-x64=cupel.node"], { encoding: "utf8" });
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /there is no platform in beos-x64=cupel\.node/);
});
