// Makes the packages of a release: one for each platform that an engine was built for, and the one that users ask for, which takes
// that of its platform as an optional dependency. Nothing in them runs when it is installed.
//
//     node release/pack.mjs OUT PLATFORM=ENGINE ... [--repository URL] [--without-wasm]
//
// PLATFORM is as in `linux-x64-gnu`; ENGINE is `lib/cupel.node`, as `scripts/install.mjs --wheel` leaves it there. OUT gets the tarballs,
// those of the platforms first, in the order in which they are published: the registry knows a dependency before what asks for it.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const PLATFORMS = {
  "darwin-arm64": { os: ["darwin"], cpu: ["arm64"] },
  "darwin-x64": { os: ["darwin"], cpu: ["x64"] },
  "linux-arm64-gnu": { os: ["linux"], cpu: ["arm64"], libc: ["glibc"] },
  "linux-arm64-musl": { os: ["linux"], cpu: ["arm64"], libc: ["musl"] },
  "linux-x64-gnu": { os: ["linux"], cpu: ["x64"], libc: ["glibc"] },
  "linux-x64-musl": { os: ["linux"], cpu: ["x64"], libc: ["musl"] },
  "win32-x64": { os: ["win32"], cpu: ["x64"] },
};

const here = fileURLToPath(new URL("..", import.meta.url));
const { positionals, values } = parseArgs({ allowPositionals: true, options: { repository: { type: "string" }, "without-wasm": { type: "boolean" } } });
const [out, ...built] = positionals;
const engines = built.map((one) => one.split("=", 2));
const unknown = engines.find(([platform, engine]) => PLATFORMS[platform] === undefined || !engine);
if (out === undefined || engines.length === 0 || unknown) {
  console.error(`usage: node release/pack.mjs OUT PLATFORM=ENGINE ... ; platforms: ${Object.keys(PLATFORMS).join(", ")}`);
  if (unknown) console.error(`there is no platform in ${unknown.join("=")}`);
  process.exit(2);
}
const web = join(here, "dist");
const hasWeb = !values["without-wasm"];
if (hasWeb && !existsSync(join(web, "web.mjs"))) {
  console.error(`there is no ${join(web, "web.mjs")}; wasm/build makes it, or leave the build for browsers out with --without-wasm`);
  process.exit(2);
}
mkdirSync(out, { recursive: true });

// What builds and tests from a clone is of no use to those who install.
const { scripts: _scripts, ...own } = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const repository = values.repository && { type: "git", url: `git+${values.repository}.git` };
const shared = { version: own.version, license: own.license, engines: own.engines, ...(repository && { repository }) };

/** Packs a folder that `fill` makes, and returns the name of the tarball. */
function pack(manifest, fill) {
  const folder = mkdtempSync(join(tmpdir(), "cupel-pack-"));
  try {
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    for (const license of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(here, license), join(folder, license));
    fill(folder);
    const asked = ["pack", "--silent", "--ignore-scripts", "--pack-destination", resolve(out)];
    const ran = spawnSync("npm", asked, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
    if (ran.status !== 0) throw new Error(`npm pack of ${manifest.name}: ${ran.stderr ?? ran.error}`);
    return ran.stdout.trim();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const names = engines.map(([platform]) => `${own.name}-${platform}`);
const packed = engines.map(([platform, engine], at) =>
  pack(
    {
      name: names[at],
      description: `The engine of ${own.name} for ${platform}`,
      ...shared,
      ...PLATFORMS[platform],
      main: "cupel.node",
      files: ["cupel.node", "LICENSE-MIT", "LICENSE-APACHE"],
    },
    (folder) => {
      cpSync(engine, join(folder, "cupel.node"));
      writeFileSync(join(folder, "README.md"), `The engine of [${own.name}](https://www.npmjs.com/package/${own.name}) for ${platform}.\n`);
    },
  ),
);
if (!hasWeb) for (const name of ["browser", "edge-light", "deno", "bun"]) delete own.exports["."][name];
const optionalDependencies = Object.fromEntries(names.map((name) => [name, own.version]));
const files = own.files.filter((name) => !name.startsWith("scripts"));
packed.push(
  pack({ ...own, ...shared, files, optionalDependencies }, (folder) => {
    cpSync(join(here, "README.md"), join(folder, "README.md"));
    const isBuilt = (path) => basename(path).startsWith("cupel.node");
    if (hasWeb) cpSync(web, join(folder, "dist"), { recursive: true });
    cpSync(join(here, "lib"), join(folder, "lib"), { recursive: true, filter: (path) => !isBuilt(path) });
  }),
);
for (const name of packed) console.log(name);
