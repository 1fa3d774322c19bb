"use strict";
// Loads the engine: as a build from this clone left it, as the package of this platform brings it, or as WebAssembly, which is there
// for every platform.

const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

/** The name of this platform, as in `linux-x64-gnu`. */
function platform() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return name;
  // A report of Node names the version of glibc if it runs on one.
  /** @type {any} */
  const report = process.report.getReport();
  return `${name}-${report.header.glibcVersionRuntime ? "gnu" : "musl"}`;
}

const built = join(__dirname, "cupel.node");

/** A file of the engine as WebAssembly. */
const portable = (name) => join(__dirname, "..", "dist", name);

/** The engine as WebAssembly, with its data from files once it is missed. */
function loadPortable() {
  const { bound } = require("./wasm.cjs");
  const read = (name) => readFileSync(portable(name));
  return bound(new WebAssembly.Module(read("cupel.wasm")), { read });
}

/** The engine's functions and classes. `CUPEL_ENGINE=wasm` asks for WebAssembly. */
function load() {
  if (process.env.CUPEL_ENGINE === "wasm") return loadPortable();
  if (existsSync(built)) return require(built);
  const name = `cupel-${platform()}`;
  try {
    return require(name);
  } catch (error) {
    if (existsSync(portable("cupel.wasm"))) return loadPortable();
    const remedy = "build it from a clone, with Rust: npm install ./node";
    throw new Error(`there is no engine for ${platform()}: neither ${built} nor the package ${name}; ${remedy}`, {
      cause: error,
    });
  }
}

module.exports = { load, built, platform };
