// Writes dist/web.mjs, the package as one module without Node's modules and with the engine as WebAssembly, and dist/playground, the
// page of a request with the engine inside.
import { copyFileSync, cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const folder = new URL("../lib/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");

/** The modules that index.cjs needs, each once; what loads the engine for Node is left to the module around them. */
const modules = new Map();
function add(name) {
  if (name === "./native.cjs" || modules.has(name)) return;
  const source = read(name);
  modules.set(name, source);
  for (const [, inner] of source.matchAll(/require\("(\.\/[\w-]+\.cjs)"\)/g)) add(inner);
}
add("./index.cjs");
add("./wasm.cjs");

const bodies = [...modules].map(
  ([name, source]) => `${JSON.stringify(name)}: (module, exports, require) => {\n${source}}`,
);
const names = [...modules.get("./index.cjs").matchAll(/^module\.exports\.(\w+) =/gm)].map(([, name]) => name);

/** The module, given how an environment has the program and its data. */
const around = (program) => `// Made by wasm/bundle.mjs from lib/*.cjs.
const modules = {
${bodies.join(",\n")}
};
const loaded = {};
function require(name) {
  if (!(name in loaded)) {
    const module = { exports: {} };
    loaded[name] = module;
    modules[name](module, module.exports, require);
  }
  return loaded[name].exports;
}
${program}
const engine = require("./wasm.cjs").bound(program, { fetched });
loaded["./native.cjs"] = { exports: { load: () => engine } };
export const { ${names.join(", ")} } = require("./index.cjs");
`;

const fetched = `
async function fetched(name) {
  const answer = await fetch(new URL(\`./\${name}\`, import.meta.url));
  if (!answer.ok) throw new Error(\`\${answer.url}: \${answer.status}\`);
  return new Uint8Array(await answer.arrayBuffer());
}`;
const web = `${fetched}
const answer = await fetch(new URL("./cupel.wasm", import.meta.url));
// A server that does not know the type of the file would make the shorter way fail.
const program = await WebAssembly.compile(await answer.arrayBuffer());`;
const dist = new URL("../dist/", import.meta.url);
writeFileSync(new URL("web.mjs", dist), around(web));

const playground = new URL("playground/", dist);
cpSync(new URL("playground/", import.meta.url), playground, { recursive: true });
const page = new URL("../../crates/cupel-page/web/", import.meta.url);
for (const name of readdirSync(page).filter((name) => name !== "index.html")) copyFileSync(new URL(name, page), new URL(name, playground));
for (const name of readdirSync(dist).filter((name) => /\.(wasm|merges|words)$/.test(name))) copyFileSync(new URL(name, dist), new URL(name, playground));
const engine = `// Made by wasm/bundle.mjs from lib/wasm.cjs.
const module = { exports: {} };
((module) => {
${read("./wasm.cjs")}})(module);
${web}
export const engine = module.exports.bound(program, { fetched });
`;
writeFileSync(new URL("engine.js", playground), engine);
const example = readFileSync(new URL("../../examples/support-chat.json", import.meta.url), "utf8");
writeFileSync(new URL("example.js", playground), `export const EXAMPLE = ${JSON.stringify(example)};\n`);
