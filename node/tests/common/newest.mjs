// Says which packages a test asks for, each at its newest: an alias stands for one major version of a package.
import { readFileSync } from "node:fs";

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const asked = Object.entries(dependencies).filter(([, range]) => !range.startsWith("file:"));
console.log(asked.map(([name, range]) => `${name}@${range.startsWith("npm:") ? range : "latest"}`).join(" "));
