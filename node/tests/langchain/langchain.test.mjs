// Real agents of LangChain.js with a chat model that notes what it is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ContextOverflowError } from "@langchain/core/errors";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { select } from "cupel";
import { cupelMiddleware, preModelHook } from "cupel/langchain";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { createAgent, providerStrategy, tool, toolStrategy } from "langchain";
import { z } from "zod";
import { compiles } from "../common/compiles.mjs";
import { INSTRUCTIONS, STEPS, TASK, asked, remembering, result } from "../common/story.mjs";

const BUDGETS = [300, 400, 500, 650, 800, 1_000, 1_400, 2_000, 3_000, 12_000];

/** Rules that providers have for messages, as a list of what breaks them. */
function problems(messages) {
  const found = [];
  let open = new Map();
  let isBegun = false;
  for (const [at, message] of messages.entries()) {
    if (message.type === "system") {
      if (at > 0) found.push(`${at}: a system message behind others`);
    } else if (message.type === "tool") {
      if (!ToolMessage.isInstance(message)) found.push(`${at}: no ToolMessage`);
      if (!open.delete(message.tool_call_id)) found.push(`${at}: a result of no call`);
    } else {
      if (!isBegun && message.type !== "human") found.push(`${at}: ${message.type} speaks first`);
      isBegun = true;
      for (const id of open.keys()) found.push(`${at}: ${id} has no result`);
      open = new Map((message.tool_calls ?? []).map((call) => [call.id, call.name]));
    }
  }
  for (const id of open.keys()) found.push(`the end: ${id} has no result`);
  return found;
}

/** Calls a tool at every step but the last. */
class Model extends BaseChatModel {
  model = "gpt-4o";
  steps = STEPS;
  sent = [];
  given = [];
  _llmType() {
    return "noting";
  }
  bindTools(tools) {
    this.given = tools;
    return this;
  }
  async _generate(messages) {
    this.sent.push({ messages, tools: this.given });
    const step = this.sent.length;
    const calls = step === this.steps ? [] : [{ id: `call-${step}`, name: "read", args: asked(step), type: "tool_call" }];
    const message = new AIMessage({ content: step === this.steps ? "It listens on 7443." : "", tool_calls: calls });
    return { generations: [{ text: "", message }] };
  }
}

function read() {
  let step = 0;
  return tool(() => result(++step), {
    name: "read",
    description: "Reads a file of the server, as it is on its disk.",
    schema: z.object({ path: z.string().describe("Where the file is, from the root.") }),
  });
}

const tokens = remembering(countTokens);

/** Tokens of what is said alone, by another tokenizer: what the provider adds to messages comes on top. */
function least({ messages, tools }) {
  const said = messages.flatMap(({ text, tool_calls: calls = [] }) => [text, ...calls.map(({ args }) => JSON.stringify(args))]);
  const defined = tools.map(convertToOpenAITool).flatMap((one) => {
    const { name, description, parameters } = one.function;
    return [name, description, ...Object.values(parameters.properties).map(({ description }) => description)];
  });
  return [...said, ...defined].reduce((sum, text) => sum + tokens(text), 0);
}

test("an agent of 60 steps with a tool, at ten budgets", async () => {
  for (const maxTokens of BUDGETS) {
    const model = new Model({});
    const windows = [];
    const middleware = [cupelMiddleware({ maxTokens, onSelection: (window) => windows.push(window) })];
    const agent = createAgent({ model, tools: [read()], systemPrompt: INSTRUCTIONS, middleware });
    const state = await agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 400 });
    assert.equal(state.messages.at(-1).text, "It listens on 7443.");
    // The state of the agent is whole, whatever was sent.
    assert.equal(state.messages.length, 2 * STEPS);
    assert.equal(model.sent.length, STEPS);
    for (const [at, request] of model.sent.entries()) {
      assert.deepEqual(problems(request.messages), [], `step ${at} of ${maxTokens}`);
      assert.ok(request.tools.length === 1 && least(request) <= windows[at].tokens && windows[at].tokens <= maxTokens);
      const texts = request.messages.map((message) => message.text);
      assert.ok(texts.includes(INSTRUCTIONS) && texts.includes(TASK));
      assert.ok(at === 0 || texts.at(-1) === result(at));
    }
    assert.equal(model.sent.at(-1).messages.length < state.messages.length, maxTokens < 5_000);
  }
});

test("a thread is a session, and its windows keep their beginning", async () => {
  const same = async (configurable) => {
    const model = new Model({});
    const agent = createAgent({
      model, tools: [read()], middleware: [cupelMiddleware({ maxTokens: 1_000 })], checkpointer: configurable && new MemorySaver(),
    });
    await agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 400, configurable });
    let same = 0;
    for (const [at, { messages }] of model.sent.entries()) {
      const before = model.sent[at - 1]?.messages ?? [];
      const differs = messages.findIndex((message, index) => message.id !== before[index]?.id);
      same += differs < 0 ? messages.length : differs;
    }
    return same;
  };
  const [alone, session] = [await same(undefined), await same({ thread_id: "one" })];
  assert.ok(session > 1.5 * alone, `${session} messages where they were, ${alone} without a session`);
});

test("the model, its profile, tools and the schema of the answer are read from the framework's objects", async () => {
  const size = async (settings, model = new Model({})) => {
    model.steps = 1;
    let window;
    const agent = createAgent({ model, tools: [], middleware: [cupelMiddleware({ onSelection: (told) => (window = told) })], ...settings });
    await agent.invoke({ messages: [new HumanMessage(TASK)] }).catch((error) => window ?? assert.fail(error));
    return window;
  };
  const bare = await size({});
  assert.equal(bare.summary.model, "gpt-4o");
  assert.equal(bare.summary.budget.max_tokens, 128_000);
  assert.ok((await size({ tools: [read()] })).tokens > bare.tokens + 20);
  assert.ok((await size({ tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }] })).tokens > bare.tokens);
  const schema = z.object({ port: z.number().describe("The port that the service listens on, from its configuration.") });
  for (const responseFormat of [schema, toolStrategy(schema), providerStrategy(schema), [schema, z.object({ none: z.string() })]]) {
    assert.ok((await size({ responseFormat })).tokens > bare.tokens + 20);
  }
  const unknown = Object.assign(new Model({}), { model: "house-model" });
  Object.defineProperty(unknown, "profile", { value: { maxInputTokens: 9_000 } });
  assert.equal((await size({}, unknown)).summary.budget.max_tokens, 9_000);
  const brief = Object.assign(new Model({}), { maxTokens: 77 });
  assert.equal((await size({}, brief)).summary.budget.output_reserve, 77);
});

test("what cannot fit is an error that LangChain knows", async () => {
  const model = new Model({});
  const agent = createAgent({ model, tools: [read()], systemPrompt: INSTRUCTIONS, middleware: [cupelMiddleware({ maxTokens: 20 })] });
  await assert.rejects(agent.invoke({ messages: [new HumanMessage(TASK)] }), (error) => {
    const known = ContextOverflowError.isInstance(error) ? error : error.cause;
    return ContextOverflowError.isInstance(known) && known.cause.code === "does-not-fit";
  });
  assert.equal(model.sent.length, 0);
});

test("the hook of LangGraph's agents leaves their history alone", async () => {
  const model = new Model({});
  const agent = createReactAgent({ llm: model, tools: [read()], preModelHook: preModelHook({ maxTokens: 900, model: "gpt-4o" }) });
  const state = await agent.invoke({ messages: [new HumanMessage(TASK)] }, { recursionLimit: 400 });
  assert.equal(state.messages.length, 2 * STEPS);
  for (const { messages } of model.sent) {
    assert.deepEqual(problems(messages), []);
    assert.ok(least({ messages, tools: [] }) <= 900);
  }
  assert.ok(model.sent.at(-1).messages.length < 60);
});

test("messages that go in shorter are messages of LangChain", () => {
  const long = Array.from({ length: 80 }, (_, line) => `${line} ${result(3)}`).join("\n");
  const call = new AIMessage({ content: "", tool_calls: [{ id: "a", name: "read", args: {}, type: "tool_call" }] });
  const messages = [new SystemMessage(INSTRUCTIONS), new HumanMessage(TASK), call, new ToolMessage({ content: long, tool_call_id: "a", name: "read" })];
  const window = select(messages, { maxTokens: 700, shorten: "all" });
  const shorter = window.messages.at(-1);
  assert.ok(ToolMessage.isInstance(shorter) && shorter.text.length < long.length && shorter.tool_call_id === "a");
  assert.equal(JSON.parse(JSON.stringify(shorter)).kwargs.content, shorter.content);
  assert.deepEqual(window.messages.slice(0, 3), messages.slice(0, 3));
  assert.equal(messages[3].content, long);
});

test("the types are those that the framework takes", () => compiles(import.meta.url));
