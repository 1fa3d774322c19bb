// Runs when the package is installed. Published, its engine comes as a package of this platform, and there is nothing to
// do; from a clone it is compiled.
//
//     node scripts/install.mjs           as users get it
//     node scripts/install.mjs --dev     as the tests of the crates are compiled, which they share
//     node scripts/install.mjs --wheel   as it is published
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, renameSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const root = dirname(here);
if (!existsSync(join(here, "Cargo.toml"))) process.exit(0);

const profile = process.argv.includes("--dev") ? "dev" : process.argv.includes("--wheel") ? "wheel" : "pip";
const command = ["build", "--locked", "-p", "cupel-node", "--profile", profile];
const ran = spawnSync("cargo", command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
if (ran.error) {
  console.error(`cargo does not run: ${ran.error.message}; building from a clone takes a Rust toolchain, https://rustup.rs`);
  process.exit(1);
}
if (ran.status !== 0) process.exit(ran.status ?? 1);

const names = { darwin: "libcupel_node.dylib", win32: "cupel_node.dll" };
const folder = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), profile === "dev" ? "debug" : profile);
const engine = join(here, "lib", "cupel.node");
// A program that has the old one open keeps it: what is renamed into its place is another file.
copyFileSync(join(folder, names[process.platform] ?? "libcupel_node.so"), `${engine}.new`);
renameSync(`${engine}.new`, engine);
