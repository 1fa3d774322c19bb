// Compiles what a user of an adapter writes, by the types of the framework itself.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const OPTIONS = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--preserveSymlinks", "--skipLibCheck"];

/** Compiles `use.mts` beside a test. */
export function compiles(test) {
  const cwd = fileURLToPath(new URL(".", test));
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", ...OPTIONS, "use.mts"], { cwd, stdio: "inherit" });
}
