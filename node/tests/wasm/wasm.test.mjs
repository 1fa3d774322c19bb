// The engine as WebAssembly beside the one for Node, and what it does without its data.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const require = createRequire(import.meta.url);
const { bound, FILES } = require("../../lib/wasm.cjs");
const file = (name) => readFileSync(new URL(`../../dist/${name}`, import.meta.url));
const program = new WebAssembly.Module(file("cupel.wasm"));
const examples = new URL("../../../examples/", import.meta.url);
const requests = readdirSync(examples)
  .filter((name) => name.endsWith(".json"))
  .map((name) => [name, readFileSync(new URL(name, examples), "utf8")]);

/** What a call says, be it an answer or an error. */
function told(call) {
  try {
    return call();
  } catch (error) {
    return JSON.parse(error.message);
  }
}

test("the program has at most 1.5 MB compressed, and imports nothing", () => {
  const size = gzipSync(file("cupel.wasm"), { level: 9 }).length;
  assert.ok(size <= 1_500_000, `${size} bytes`);
  assert.deepEqual(WebAssembly.Module.imports(program), []);
});

const native = new URL("../../lib/cupel.node", import.meta.url);
test("windows, counts and errors are those of the engine for Node", { skip: !existsSync(native) }, () => {
  const other = require("../../lib/cupel.node");
  const portable = bound(program, { read: file });
  assert.equal(portable.VERSION, other.VERSION);
  assert.equal(portable.handle("some text"), other.handle("some text"));
  let windows = 0;
  for (const settings of [{}, { model: "gpt-4" }, { model: "claude-sonnet-4-5" }, { policy: "chat", shorten: "all" }]) {
    const [one, two] = [portable.Engine, other.Engine].map((Engine) => new Engine(JSON.stringify(settings)));
    assert.equal(one.policy, two.policy);
    for (const [name, request] of requests) {
      for (const question of [{ ask: "count" }, { ask: "validate" }]) {
        const asked = ([engine]) => told(() => JSON.parse(engine.ask(request, JSON.stringify(question))));
        assert.deepEqual(asked([one]), asked([two]), `${name}: ${question.ask}`);
      }
      for (const tokens of [50, 200, 600, 100_000]) {
        const chosen = (engine) =>
          told(() => {
            const { kept, text, tokens: of, rewritten, ...rest } = engine.select(request, JSON.stringify({ max_tokens: tokens }));
            windows++;
            return { kept: [...kept], text, of, rewritten: JSON.parse(rewritten ?? "null"), rest: rest.isRepaired };
          });
        const [here, there] = [chosen(one), chosen(two)];
        if (there.rest === undefined && here.of !== undefined) there.rest = here.rest;
        assert.deepEqual(here, there, `${name} at ${tokens} with ${JSON.stringify(settings)}`);
      }
    }
  }
  assert.ok(windows > 60, `${windows} windows`);
});

test("without its data it estimates, says so, and is never far below", () => {
  const bare = new (bound(program, {}).Engine)("{}");
  const whole = new (bound(program, { read: file }).Engine)("{}");
  let estimates = 0;
  for (const [name, request] of requests) {
    const count = (engine) => told(() => JSON.parse(engine.ask(request, `{"ask":"count"}`)));
    const [guess, exact] = [count(bare), count(whole)];
    if (exact.total_tokens === undefined) continue;
    // Items may bring counts of their own.
    assert.ok(guess.is_estimate || guess.total_tokens === exact.total_tokens, name);
    estimates += guess.is_estimate;
    assert.ok(guess.at_most >= exact.total_tokens, `${name}: ${guess.total_tokens} to ${guess.at_most}, ${exact.total_tokens}`);
  }
  assert.ok(estimates > 5, `${estimates} estimates`);
});

test("data is fetched when it is missed, once", async () => {
  const asked = [];
  const fetched = async (name) => {
    asked.push(name);
    return file(name);
  };
  const engine = new (bound(program, { fetched }).Engine)("{}");
  const [, request] = requests.find(([name]) => name.includes("openai") || name.includes("chat"));
  const options = JSON.stringify({ max_tokens: 100_000, model: "gpt-4o" });
  assert.equal(JSON.parse(engine.select(request, options).answer()).summary.is_estimate, true);
  assert.deepEqual(asked, []);
  assert.equal(JSON.parse((await engine.selectAsync(request, options)).answer()).summary.is_estimate, false);
  assert.equal(JSON.parse(engine.select(request, options).answer()).summary.is_estimate, false);
  await engine.selectAsync(request, options);
  assert.ok(asked.includes("o200k_base.merges") && !asked.includes("cl100k_base.merges"), `${asked}`);
  assert.equal(new Set(asked).size, asked.length, `${asked}`);
});

test("other bytes are refused as data", async () => {
  const { load } = bound(program, { fetched: async () => new Uint8Array(1000) });
  for (const name of FILES) await assert.rejects(load([name]), (error) => JSON.parse(error.message).code === "invalid-data");
  await assert.rejects(load(["other"]), /there is no data of this name/);
});

const MACHINES = {
  bun: ["@oven/bun-linux-x64/bin/bun", ["run"]],
  deno: ["@deno/linux-x64-glibc/deno", ["run", "--allow-read", "--node-modules-dir=manual", "--no-lock"]],
};
for (const [name, [path, options]] of Object.entries(MACHINES)) {
  const machine = fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
  test(`${name} runs it from the package`, { skip: process.platform !== "linux" || process.arch !== "x64" }, () => {
    chmodSync(machine, 0o755);
    const told = execFileSync(machine, [...options, "run.mjs"], { cwd: fileURLToPath(new URL(".", import.meta.url)), encoding: "utf8" });
    assert.deepEqual(JSON.parse(told), { before: true, kept: [0, 1, 3], own: true, after: false });
  });
}
