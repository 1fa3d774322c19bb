// The package's calls, against the repository's own examples of requests.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import * as cupel from "cupel";

const { CupelError, Engine, Session, select, selectAsync } = cupel;
const examples = new URL("../../../examples/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(name, examples), "utf8"));

const KEYS = [
  { role: "user", content: "The deploy key is on the blue card." },
  { role: "assistant", content: "Noted." },
  { role: "user", content: "Lunch is at noon, soup again, and the printer is out of paper." },
  { role: "user", content: "Where is the deploy key?" },
];

/** A conversation with a tool, of so many steps. */
function agent(steps) {
  const messages = [{ role: "user", content: "Find the failing test and fix it." }];
  for (let step = 0; step < steps; step++) {
    const call = { id: `c${step}`, type: "function", function: { name: "read", arguments: `{"path":"f${step}.rs"}` } };
    messages.push({ role: "assistant", content: null, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: `c${step}`, content: `line ${step} of the file\n`.repeat(20) });
  }
  return messages;
}

const listOf = (request) => (Array.isArray(request) ? request : (request.messages ?? request.input ?? request.contents));

test("the window has the caller's own objects", () => {
  const selection = select(KEYS, { maxTokens: 40 });
  assert.deepEqual(selection.kept, [0, 1, 3]);
  assert.ok(selection.messages.every((message, at) => message === KEYS[selection.kept[at]]));
  assert.ok(selection.tokens <= 40);
  assert.deepEqual([...selection], selection.messages);
  assert.equal(`${selection}`, "kept 3 of 4 messages, 33 of 40 tokens, from 53");
});

test("a report and an explanation say why", () => {
  const selection = select(KEYS, { maxTokens: 40 });
  assert.equal(selection.report.total_candidates, 4);
  assert.equal(selection.report.excluded[0].item.content.includes("Lunch"), true);
  assert.equal(selection.explanation().left_out.length, 1);
  assert.match(selection.explain(), /^kept 3 of 4 messages, 33 of 40 tokens, from 53\n.*\n\nkept, in order\n/s);
  assert.match(selection.explain(), /Lunch is at noon/);
});

test("every example in every format keeps its own objects, is valid and fits at three budgets", () => {
  const names = readdirSync(examples).filter((name) => name.endsWith(".json"));
  let tried = 0;
  for (const name of names) {
    const request = read(name);
    const messages = listOf(request);
    if (!Array.isArray(messages) || cupel.validate(request).violations.length > 0) continue;
    const whole = cupel.count(request).total_tokens;
    for (const tenth of [3, 6, 10]) {
      const targetTokens = Math.ceil((whole * tenth) / 10);
      let selection;
      try {
        selection = select(request, { maxTokens: whole + 10_000, targetTokens, marginPercent: 0, shorten: "off" });
      } catch (error) {
        assert.equal(error.code, "does-not-fit", `${name}: ${error}`);
        continue;
      }
      tried++;
      assert.ok(selection.tokens <= targetTokens, `${name}: ${selection}`);
      assert.ok(selection.messages.every((message, at) => message === messages[selection.kept[at]]), name);
      assert.deepEqual(cupel.validate(selection.request).violations, [], `${name} at ${targetTokens}`);
      assert.deepEqual(JSON.parse(selection.text), JSON.parse(JSON.stringify(selection.request)), name);
    }
  }
  assert.ok(tried >= 30, `${tried} windows`);
});

test("a request keeps its shape, and its other fields are the caller's", () => {
  const tools = [{ type: "function", function: { name: "read", parameters: {} } }];
  const request = { model: "gpt-4o", tools, messages: agent(10) };
  const selection = select(request, { maxTokens: 900, outputReserve: 100 });
  assert.equal(selection.request.tools, tools);
  assert.ok(selection.request.messages.length < request.messages.length);
  assert.equal(request.messages.length, 21);
  assert.equal(select({ model: "gpt-4o", messages: KEYS }).summary.budget.max_tokens, 128_000);
  const text = JSON.stringify(KEYS);
  assert.equal(select(text, { maxTokens: 100 }).request, text);
  assert.deepEqual(select(new TextEncoder().encode(text), { maxTokens: 100 }).messages, KEYS);
});

test("what is shortened is a copy in which all else is the caller's own", () => {
  const orders = JSON.stringify(Array.from({ length: 60 }, (_, n) => ({ id: `order-${n}`, note: "left at the door" })));
  const [, call] = agent(1);
  const messages = [KEYS[0], call, { role: "tool", tool_call_id: "c0", content: orders, own: KEYS }, KEYS[3]];
  const engine = new Engine({ maxTokens: 300, shorten: "json" });
  const selection = engine.select(messages);
  assert.deepEqual(selection.kept, [0, 1, 2, 3]);
  assert.equal(selection.messages[1], call);
  assert.notEqual(selection.messages[2], messages[2]);
  assert.equal(selection.messages[2].own, KEYS);
  assert.ok(selection.messages[2].content.length < orders.length);
  assert.equal(messages[2].content, orders);
  assert.equal(engine.original(messages, selection.shortened[0].handle), orders);
  assert.equal(engine.original(messages, "cupel:0000000000000000"), null);
});

test("bytes go as Base64, and stay the caller's own", () => {
  const image = new Uint8Array(readFileSync(new URL("../../../docs/page.png", import.meta.url)).subarray(0, 4096));
  const parts = [{ type: "text", text: "What is this?" }, { type: "image", image, mediaType: "image/png" }];
  const selection = select([{ role: "user", content: parts }], { maxTokens: 10_000, format: "ai-sdk" });
  assert.equal(selection.messages[0].content[1].image, image);
  assert.ok(selection.text.includes(Buffer.from(image).toString("base64")));
});

test("errors have code, path and remedy", () => {
  const thrown = (call) => {
    try {
      call();
    } catch (error) {
      assert.ok(error instanceof CupelError && error instanceof Error, `${error}`);
      return [error.code, error.path, error.remedy];
    }
    return assert.fail("nothing was thrown");
  };
  assert.deepEqual(thrown(() => select(KEYS, { modle: "x" })), ["invalid-argument", "modle", undefined]);
  assert.deepEqual(thrown(() => select(KEYS, { maxTokens: "x" })), ["invalid-argument", "maxTokens", undefined]);
  assert.deepEqual(thrown(() => select({ messages: 3 }, { maxTokens: 9 })), [
    "malformed-request", "messages", "give the messages as a list",
  ]);
  assert.deepEqual(thrown(() => select(KEYS)), ["no-budget", undefined, "give maxTokens, or a model that is known"]);
  assert.deepEqual(thrown(() => select(KEYS, { maxTokens: 100, policy: "caht" })), [
    "unknown-policy", "policy", "did you mean `chat`?",
  ]);
  assert.deepEqual(thrown(() => select(KEYS, { maxTokens: 100, pins: [-5] })), ["unmatched-pin", "pins", undefined]);
  assert.equal(thrown(() => select(KEYS, { maxTokens: 3 }))[0], "does-not-fit");
  assert.equal(thrown(() => select(undefined, { maxTokens: 3 }))[0], "unsupported-type");
  assert.equal(thrown(() => select([{ role: "user", content: 1n }], { maxTokens: 3 }))[0], "unsupported-type");
  const loop = { role: "user" };
  loop.content = loop;
  assert.equal(thrown(() => select([loop], { maxTokens: 3 }))[0], "unsupported-type");
  const orphan = [KEYS[0], { role: "tool", tool_call_id: "a", content: "1" }];
  const [code, path, remedy] = thrown(() => select(orphan, { maxTokens: 100 }));
  assert.deepEqual([code, path], ["invalid-request", "[1]"]);
  assert.match(remedy, /call repair\(request, \{ drop: true \}\)$/);
});

test("pins, rules, queries and policies decide", () => {
  assert.ok(select(KEYS, { maxTokens: 40, pins: [2] }).kept.includes(2));
  assert.ok(select(KEYS, { maxTokens: 40, pins: -2 }).kept.includes(2));
  assert.ok(select(KEYS, { maxTokens: 40, rules: "lunch is at noon" }).kept.includes(2));
  const notes = ["The ports are 80 and 443.", "Lunch is soup on Mondays.", "Go on."].map((content) => ({ role: "user", content }));
  assert.deepEqual(select(notes, { maxTokens: 23, query: "Which ports?" }).kept, [0, 2]);
  assert.deepEqual(select(notes, { maxTokens: 23, query: "Is there soup for lunch?" }).kept, [1, 2]);
  assert.equal(select(KEYS, { maxTokens: 40, policy: { name: "mine", scorers: ["recency"] } }).summary.policy, "mine");
  assert.equal(new Engine({ policy: "chat" }).policy, "chat");
});

test("selectAsync answers the same and lets the event loop go on", async () => {
  const messages = agent(400);
  const here = select(messages, { maxTokens: 20_000 });
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const [one, two] = await Promise.all([
    selectAsync(messages, { maxTokens: 20_000 }),
    selectAsync(messages, { maxTokens: 20_000 }),
  ]);
  clearInterval(timer);
  assert.deepEqual(one.kept, here.kept);
  assert.deepEqual(two.kept, here.kept);
  assert.equal(one.messages[0], messages[here.kept[0]]);
  // WebAssembly has no thread to work on.
  if (process.env.CUPEL_ENGINE !== "wasm") assert.ok(ticks > 2, `the event loop went round ${ticks} times`);
  await assert.rejects(selectAsync(messages, { maxTokens: 3 }), { code: "does-not-fit" });
});

test("a worker has the engine too", async () => {
  const source = `
    const { parentPort } = require("node:worker_threads");
    const { select } = require(${JSON.stringify(createRequire(import.meta.url).resolve("cupel"))});
    parentPort.postMessage(select(${JSON.stringify(KEYS)}, { maxTokens: 40 }).kept);`;
  const worker = new Worker(source, { eval: true });
  const kept = await new Promise((done, failed) => worker.once("message", done).once("error", failed));
  await worker.terminate();
  assert.deepEqual(kept, [0, 1, 3]);
});

test("both module systems have the same objects", () => {
  const required = createRequire(import.meta.url)("cupel");
  assert.deepEqual(Object.keys(required).sort(), Object.keys(cupel).sort());
  for (const [name, value] of Object.entries(required)) assert.equal(cupel[name], value, name);
});

test("count, validate, repair, simulate, compare, policies and models answer", () => {
  assert.equal(cupel.count([{ role: "user", content: "Hello!" }]).total_tokens, 9);
  const orphan = [{ role: "user", content: "Hi" }, { role: "tool", tool_call_id: "a", content: "1" }];
  assert.equal(cupel.validate(orphan).violations[0].rule, "orphan-result");
  assert.equal(cupel.repair(orphan).losses[0].action, "dropped [1]");
  const repaired = cupel.repair(orphan, { drop: true });
  assert.deepEqual(repaired.messages, [orphan[0]]);
  assert.equal(repaired.messages[0], orphan[0]);
  const notes = Array.from({ length: 5 }, (_, n) => ({ role: "user", content: `Note ${n} about the weather.` }));
  assert.deepEqual(cupel.simulate(notes, { budgets: [20, 200] }).windows[1].kept_messages, [0, 1, 2, 3, 4]);
  assert.equal(cupel.simulate(notes, { message: 4 }).part.pinned, "last user turn");
  assert.ok(cupel.simulate(notes, { slackTokens: 20, maxTokens: 40 }));
  assert.ok(cupel.simulate(notes, { steps: 5 }));
  assert.throws(() => cupel.simulate(notes, { budgets: [1], message: 1 }), { code: "invalid-argument" });
  const compared = cupel.compare(notes, ["auto", "chat"], { maxTokens: 30 });
  assert.deepEqual(compared.policies.map((one) => one.policy), ["auto", "chat"]);
  assert.equal(cupel.policies()[0].name, "auto");
  assert.equal(cupel.models().find((model) => model.name === "gpt-4o").context_window, 128_000);
  assert.match(cupel.handle("some text"), /^cupel:[0-9a-f]{16}$/);
});

test("every setting of the engine is taken by its name in camel case", () => {
  const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
  const { settings } = new Engine().listed("settings");
  assert.ok(settings.length > 15);
  for (const setting of settings) {
    const wrong = { [camel(setting.keyword)]: { nothing: "so" } };
    for (const [is, call] of [
      [setting.engine, () => new Engine(wrong)],
      [setting.call, () => new Engine().count(KEYS, wrong)],
    ]) {
      let thrown;
      assert.throws(call, (error) => {
        thrown = error;
        return error instanceof CupelError;
      }, setting.keyword);
      assert.equal(/unknown setting|cannot be set here/.test(thrown.rule), !is, `${setting.keyword}: ${thrown}`);
    }
  }
  const types = readFileSync(new URL("../../lib/index.d.cts", import.meta.url), "utf8");
  for (const { keyword } of settings) assert.match(types, new RegExp(`\\b${camel(keyword)}\\?:`), keyword);
});

test("a session keeps the beginning of its windows, and goes on from what it wrote down", () => {
  const engine = new Engine({ maxTokens: 1_500 });
  let session = new Session(engine);
  assert.equal(JSON.stringify(session), "null");
  const messages = agent(40);
  let kept = 0;
  const never = new Session(engine);
  for (let end = 1; end <= messages.length; end += 2) {
    const step = select(messages.slice(0, end), { session, now: new Date(1_700_000_000_000 + end * 1_000) });
    assert.ok(step.tokens <= 1_500);
    assert.ok(step.messages.every((message, at) => message === messages[step.kept[at]]));
    assert.ok(step.session);
    const other = never.next(messages.slice(0, end), { now: 1_700_000_000 + end });
    never.accept();
    assert.deepEqual([step.kept, step.session], [other.kept, other.session]);
    kept += step.session.unchanged_messages;
    assert.equal(session.accept(), true);
    // As another process would.
    session = Session.fromJSON(JSON.parse(JSON.stringify(session)), engine);
  }
  assert.equal(session.toJSON().steps, 41);
  assert.ok(kept > 100, `${kept} messages stood where they were`);
  assert.throws(() => select(messages, { session, policy: "chat" }), { path: "policy" });
  assert.throws(() => select(messages, { session: {} }), { path: "session" });
  assert.throws(() => Session.fromJSON({ schema: "cupel/9" }, engine), CupelError);
});

test("a step that was rolled back was never there", async () => {
  const session = new Engine({ maxTokens: 1_500 }).session({ cacheLifetime: 60 });
  await session.nextAsync(agent(4));
  session.rollBack();
  assert.equal(session.accept(), false);
  assert.throws(() => new Session(new Engine(), { cacheLifetime: -1 }), { path: "cacheLifetime" });
});

test("tools that make room are told of and stand in the request", () => {
  const tool = (name, what) => {
    const description = `${what} ${"It may take a while. ".repeat(30)}`;
    return { type: "function", function: { name, description, parameters: { type: "object" } } };
  };
  const tools = [tool("get_tides", "Looks up high and low water."), tool("order_soup", "Orders soup.")];
  const request = { tools, messages: [{ role: "user", content: "When is high water?" }], seed: 7 };
  const options = { tokenizer: "cl100k_base", tools: "choose" };
  const whole = select(request, { ...options, maxTokens: 5_000 });
  assert.deepEqual(whole.request, request);
  assert.deepEqual(whole.tools, []);
  const one = select(request, { ...options, maxTokens: 45 });
  assert.deepEqual(one.tools.map(({ name, fate }) => [name, fate]), [["get_tides", "shortened"], ["order_soup", "left-out"]]);
  assert.equal(one.request.tools.length, 1);
  assert.equal(one.request.tools[0].function.name, "get_tides");
  assert.ok(one.request.tools[0].function.description.length < 100);
  assert.equal(one.request.messages[0], request.messages[0]);
  assert.equal(one.request.seed, 7);
  assert.ok(one.explain().includes("order_soup"));
});
