// Writes lib/answers.d.cts: the answers of the engine as types, from their JSON Schemas.
//
//     node tools/make-types.mjs           writes the file
//     node tools/make-types.mjs --check   fails if it is not what it would write
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const schemas = new URL("../../crates/cupel-engine/schemas/", import.meta.url);
const file = fileURLToPath(new URL("../lib/answers.d.cts", import.meta.url));

/** Names that the package has for something else. */
const RENAMED = {
  Selection: "SelectionAnswer",
  Step: "StepAnswer",
  Repaired: "RepairedAnswer",
  SelectionReport: "Report",
  EngineError: "ErrorAnswer",
};
const PLAIN = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

/** A schema where it is used. */
function type(schema, indent = "  ") {
  if (schema === true || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return RENAMED[name] ?? name;
  }
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return [...new Set(several.map((one) => type(one, indent)))].join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((one) => type({ ...schema, type: one }, indent)).join(" | ");
  if (schema.type === "array") {
    if (schema.prefixItems) return `[${schema.prefixItems.map((one) => type(one, indent)).join(", ")}]`;
    return `Array<${type(schema.items ?? {}, indent)}>`;
  }
  if (schema.properties) return fields(schema, indent);
  if (schema.type === "object") return `Record<string, ${type(schema.additionalProperties ?? {}, indent)}>`;
  return PLAIN[schema.type] ?? "unknown";
}

/** The fields of an object. */
function fields(schema, indent) {
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties).map(([name, value]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${words(value, indent)}${indent}${key}${required.has(name) ? "" : "?"}: ${type(value, `${indent}  `)};\n`;
  });
  return `{\n${lines.join("")}${indent.slice(2)}}`;
}

/** The description of a schema as a comment. */
function words(schema, indent) {
  const text = (schema.description ?? "").split(/\s+/).join(" ").replaceAll("*/", "*\\/").trim();
  return text ? `${indent}/** ${text} */\n` : "";
}

const done = new Map();
function define(name, schema) {
  const known = RENAMED[name] ?? name;
  if (!done.has(known)) done.set(known, `${words(schema, "")}export type ${known} = ${type(schema)};\n`);
}
for (const name of readdirSync(schemas).filter((one) => one.endsWith(".json")).sort()) {
  const schema = JSON.parse(readFileSync(new URL(name, schemas), "utf8"));
  for (const [inner, value] of Object.entries(schema.$defs ?? {})) define(inner, value);
  define(name.slice(0, -".json".length), schema);
}
const head = "// The answers of the engine, as types. Made by tools/make-types.mjs: change it there.\n\n";
const text = head + [...done.values()].join("\n");
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("lib/answers.d.cts is not what tools/make-types.mjs writes; run it");
  process.exit(1);
}
