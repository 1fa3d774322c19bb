// What a user writes compiles, and what is wrong does not, in both module systems.
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck", "false"];

for (const file of ["use.mts", "use.cts"]) {
  test(`${file} compiles`, () => {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", ...options, file], { cwd: here, stdio: "inherit" });
  });
}
