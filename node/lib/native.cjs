"use strict";
// Loads the engine: as a build from this clone left it, or as the package of this platform brings it.

const { existsSync } = require("node:fs");
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

/** The engine's functions and classes. */
function load() {
  if (existsSync(built)) return require(built);
  const name = `cupel-${platform()}`;
  try {
    return require(name);
  } catch (error) {
    const remedy = "build it from a clone, with Rust: npm install ./node";
    throw new Error(`there is no engine for ${platform()}: neither ${built} nor the package ${name}; ${remedy}`, {
      cause: error,
    });
  }
}

module.exports = { load, built, platform };
