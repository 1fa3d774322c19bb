// Real runs of the AI SDK, each version with a mock model of its specification: what the model is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ai5 from "ai5";
import * as ai6 from "ai6";
import * as ai7 from "ai7";
import { MockLanguageModelV2 } from "ai5/test";
import { MockLanguageModelV3 } from "ai6/test";
import { MockLanguageModelV4 } from "ai7/test";
import { CupelError, Engine, select } from "cupel";
import { cupelMiddleware } from "cupel/ai-sdk";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import { compiles } from "../common/compiles.mjs";
import { INSTRUCTIONS, STEPS, TASK, asked, remembering, result } from "../common/story.mjs";
import { problems } from "./prompt.mjs";

const VERSIONS = [
  { version: "v2", ai: ai5, Model: MockLanguageModelV2, steps: ai5.stepCountIs },
  { version: "v3", ai: ai6, Model: MockLanguageModelV3, steps: ai6.stepCountIs },
  { version: "v4", ai: ai7, Model: MockLanguageModelV4, steps: ai7.isStepCount },
];
const BUDGETS = [300, 400, 500, 650, 800, 1_000, 1_400, 2_000, 3_000, 12_000];

/** Fields that each version of the specification has in its own way. */
function told(version, reason) {
  if (version === "v2") return { finishReason: reason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
  const usage = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } };
  return { finishReason: { unified: reason, raw: reason }, usage };
}

/** A model that calls a tool at every step but the last, and what it was sent. */
function model({ version, Model }, steps = STEPS) {
  const sent = [];
  const next = ({ prompt, tools }) => {
    sent.push({ prompt, tools });
    const step = sent.length;
    if (step === steps) return { text: "It listens on 7443.", ...told(version, "stop") };
    return { id: `call-${step}`, input: JSON.stringify(asked(step)), ...told(version, "tool-calls") };
  };
  const made = new Model({
    modelId: "gpt-4o",
    async doGenerate(options) {
      const { id, input, text, ...rest } = next(options);
      const part = text ? { type: "text", text } : { type: "tool-call", toolCallId: id, toolName: "read", input };
      return { content: [part], warnings: [], ...rest };
    },
    async doStream(options) {
      const { id, input, text, ...rest } = next(options);
      const parts = text
        ? [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: text }, { type: "text-end", id: "t" }]
        : [{ type: "tool-call", toolCallId: id, toolName: "read", input }];
      const all = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", ...rest }];
      const start = (to) => {
        for (const one of all) to.enqueue(one);
        to.close();
      };
      return { stream: new ReadableStream({ start }) };
    },
  });
  return { made, sent };
}

const read = (ai, step = { at: 0 }) =>
  ai.tool({
    description: "Reads a file of the server, as it is on its disk.",
    inputSchema: z.object({ path: z.string().describe("Where the file is, from the root.") }),
    execute: async () => result(++step.at),
  });

const SAYS = { text: "text", reasoning: "text", "tool-call": "input", "tool-result": "output" };
const least = remembering(countTokens);

/** Tokens of what is said alone, by another tokenizer: what the provider adds to messages comes on top. */
function leastTokens({ prompt, tools }) {
  const said = prompt.flatMap(({ content }) =>
    typeof content === "string" ? [content] : content.map((part) => (part.type === "tool-result" ? part.output.value : part[SAYS[part.type]])),
  );
  const parameters = tools.flatMap(({ name, description, inputSchema }) => [name, description, inputSchema]);
  return [...said, ...parameters].reduce((sum, one) => sum + least(one), 0);
}

const text = ({ prompt }) => JSON.stringify(prompt);

for (const one of VERSIONS) {
  const { version, ai, steps } = one;
  for (const streams of [false, true]) {
    test(`${streams ? "streamText" : "generateText"} with tools, 60 steps at ten budgets, ${version}`, async () => {
      for (const maxTokens of BUDGETS) {
        const { made, sent } = model(one);
        const windows = [];
        const middleware = cupelMiddleware({ maxTokens, onSelection: (window) => windows.push(window) });
        const call = {
          model: ai.wrapLanguageModel({ model: made, middleware }),
          tools: { read: read(ai) },
          stopWhen: steps(STEPS),
          [version === "v4" ? "instructions" : "system"]: INSTRUCTIONS,
          messages: [{ role: "user", content: TASK }],
        };
        const run = streams ? ai.streamText(call) : await ai.generateText(call);
        if (streams) await run.consumeStream({ onError: (error) => assert.fail(error) });
        assert.equal(await run.text, "It listens on 7443.");
        assert.equal(sent.length, STEPS);
        assert.equal(windows.length, STEPS);
        for (const [at, request] of sent.entries()) {
          assert.deepEqual(problems(request.prompt), [], `step ${at} of ${maxTokens}`);
          assert.ok(leastTokens(request) <= maxTokens, `step ${at}: ${leastTokens(request)} of ${maxTokens} tokens`);
          assert.ok(leastTokens(request) <= windows[at].tokens && windows[at].tokens <= maxTokens);
          assert.ok(text(request).includes(INSTRUCTIONS) && text(request).includes(TASK));
          assert.equal(request.prompt.length, windows[at].kept.length);
        }
        // The newest result is what the next step is about.
        assert.ok(sent.every((request, at) => at === 0 || text(request).includes(JSON.stringify(result(at)).slice(1, -1))));
        // The run's own history is whole, whatever was sent.
        assert.equal((await run.steps).length, STEPS);
        assert.equal(windows.at(-1).summary.messages_before, 2 + 2 * (STEPS - 1));
        assert.equal(sent.at(-1).prompt.length < 120, maxTokens < 5_000, `at ${maxTokens}`);
      }
    });
  }

  test(`a conversation that has an id keeps the beginning of its windows, ${version}`, async () => {
    const run = async (providerOptions) => {
      const { made, sent } = model(one);
      const model_ = ai.wrapLanguageModel({ model: made, middleware: cupelMiddleware({ maxTokens: 1_000 }) });
      await ai.generateText({ model: model_, tools: { read: read(ai) }, stopWhen: steps(STEPS), prompt: TASK, providerOptions });
      let same = 0;
      for (const [at, { prompt }] of sent.entries()) {
        const before = sent[at - 1]?.prompt.map((message) => JSON.stringify(message)) ?? [];
        const differs = prompt.findIndex((message, index) => JSON.stringify(message) !== before[index]);
        same += differs < 0 ? prompt.length : differs;
      }
      return same;
    };
    const alone = await run(undefined);
    const session = await run({ cupel: { conversation: "chat-1" } });
    assert.ok(session > 1.5 * alone, `${session} messages where they were, ${alone} without a session`);
    await assert.rejects(run({ cupel: { maxTokens: 5 } }), { path: "providerOptions.cupel.maxTokens" });
  });

  test(`what fits goes out as it is, and the schema of an answer counts, ${version}`, async () => {
    const { made, sent } = model(one, 1);
    const windows = [];
    const middleware = cupelMiddleware({ onSelection: (window) => windows.push(window) });
    const given = { prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], maxOutputTokens: 50 };
    const whole = await middleware.transformParams({ type: "generate", params: given, model: made });
    assert.equal(whole, given);
    assert.equal(windows[0].summary.budget.max_tokens, 128_000);
    assert.equal(windows[0].summary.model, "gpt-4o");
    assert.equal(windows[0].summary.budget.output_reserve, 50);
    const schema = z.object({ port: z.number().describe("The port that the service listens on, from its configuration.") });
    await ai.generateObject({ model: ai.wrapLanguageModel({ model: made, middleware }), schema, prompt: "Hi" }).catch(() => {});
    assert.equal(sent.length, 1);
    assert.ok(windows[1].tokens > windows[0].tokens + 20, `${windows[1].tokens} and ${windows[0].tokens} tokens`);
  });

  test(`what cannot fit is an error before anything is sent, ${version}`, async () => {
    const { made, sent } = model(one);
    const wrapped = ai.wrapLanguageModel({ model: made, middleware: cupelMiddleware({ maxTokens: 20 }) });
    const call = ai.generateText({ model: wrapped, tools: { read: read(ai) }, prompt: TASK });
    await assert.rejects(call, (error) => error instanceof CupelError && error.code === "does-not-fit");
    assert.equal(sent.length, 0);
  });

  test(`messages of useChat are fitted before they are converted, ${version}`, async () => {
    const part = (step) => ({
      type: "tool-read", toolCallId: `call-${step}`, state: "output-available", input: asked(step), output: result(step),
    });
    const messages = [{ id: "0", role: "user", parts: [{ type: "text", text: TASK }] }];
    for (let step = 1; step < STEPS; step++) {
      messages.push({ id: `${step}a`, role: "assistant", parts: [{ type: "step-start" }, part(step), { type: "text", text: `Part ${step}.` }] });
      messages.push({ id: `${step}u`, role: "user", parts: [{ type: "text", text: `Go on with part ${step + 1}.` }] });
    }
    const before = structuredClone(messages);
    for (const maxTokens of BUDGETS) {
      const window = select(messages, { maxTokens, format: "ai-sdk-ui" });
      assert.ok(window.messages.every((message, at) => message === messages[window.kept[at]]));
      const converted = await ai.convertToModelMessages(window.messages);
      const sent = model(one, 1);
      await ai.generateText({ model: sent.made, messages: converted });
      assert.deepEqual(problems(sent.sent[0].prompt), []);
      assert.ok(leastTokens({ ...sent.sent[0], tools: [] }) <= maxTokens);
    }
    assert.deepEqual(messages, before);
  });
}

test("the history that the caller handed in is not touched, and shortened results are copies", async () => {
  const prompt = [{ role: "user", content: [{ type: "text", text: TASK }] }];
  for (let step = 1; step < STEPS; step++) {
    const call = { type: "tool-call", toolCallId: `call-${step}`, toolName: "read", input: asked(step) };
    const lines = Array.from({ length: step > STEPS - 4 ? 60 : 1 }, (_, line) => `${line} ${result(step)}`);
    const output = { type: "text", value: lines.join("\n") };
    const answer = { type: "tool-result", toolCallId: call.toolCallId, toolName: "read", output };
    prompt.push({ role: "assistant", content: [call] }, { role: "tool", content: [answer] });
  }
  const before = structuredClone(prompt);
  const middleware = cupelMiddleware({ engine: new Engine({ maxTokens: 3_000, shorten: "all", format: "ai-sdk" }) });
  const fitted = await middleware.transformParams({ params: { prompt }, model: { modelId: "gpt-4o" } });
  assert.deepEqual(prompt, before);
  assert.deepEqual(problems(fitted.prompt), []);
  assert.ok(fitted.prompt.some((message) => !prompt.includes(message)), "something is shortened");
  assert.ok(fitted.prompt.some((message) => prompt.includes(message)), "the others are the caller's own");
});

test("files cross as they are, whatever holds them", async () => {
  const bytes = new Uint8Array(30_000).fill(7);
  const forms = [bytes, new URL("https://host.example/a.png"), { type: "data", data: bytes }, { type: "url", url: new URL("https://host.example/a.png") }];
  for (const data of forms) {
    const file = { type: "file", data, mediaType: "image/png" };
    const prompt = [
      { role: "user", content: [{ type: "text", text: "An old story. ".repeat(200) }] },
      { role: "assistant", content: [{ type: "text", text: "Noted." }] },
      { role: "user", content: [{ type: "text", text: "What is in the picture?" }, file] },
    ];
    const middleware = cupelMiddleware({ maxTokens: 1_200 });
    const fitted = await middleware.transformParams({ params: { prompt }, model: { modelId: "gpt-4o" } });
    assert.equal(fitted.prompt.at(-1).content[1], file);
    assert.ok(fitted.prompt.length < 3);
  }
});

test("options are checked where they are given", () => {
  assert.throws(() => cupelMiddleware({ maxToken: 5 }), CupelError);
  assert.throws(() => cupelMiddleware({ onSelection: "no" }), { path: "onSelection" });
  assert.throws(() => cupelMiddleware({ engine: {} }), { path: "engine" });
  assert.throws(() => cupelMiddleware({ engine: new Engine(), maxTokens: 5 }), { path: "maxTokens" });
});

test("the types are those that the framework takes", () => compiles(import.meta.url));
