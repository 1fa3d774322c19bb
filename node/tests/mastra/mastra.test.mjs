// Real agents of Mastra with a memory and a mock model: what the model is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3 } from "ai6/test";
import { CupelProcessor } from "cupel/mastra";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import { problems } from "../ai-sdk/prompt.mjs";
import { compiles } from "../common/compiles.mjs";
import { INSTRUCTIONS, STEPS, TASK, asked, remembering, result } from "../common/story.mjs";

const BUDGETS = [400, 500, 600, 750, 900, 1_100, 1_500, 2_100, 3_100, 12_000];

/** A model that calls a tool at every step but the last, and what it was sent. */
function model(steps = STEPS) {
  const sent = [];
  const made = new MockLanguageModelV3({
    modelId: "gpt-4o",
    async doGenerate({ prompt, tools = [] }) {
      sent.push({ prompt, tools });
      const step = sent.length;
      const call = { type: "tool-call", toolCallId: `call-${step}`, toolName: "read", input: JSON.stringify(asked(step)) };
      const reason = step === steps ? "stop" : "tool-calls";
      return {
        content: [step === steps ? { type: "text", text: "It listens on 7443." } : call],
        finishReason: { unified: reason, raw: reason },
        usage: { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } },
        warnings: [],
      };
    },
  });
  return { made, sent };
}

function read() {
  let step = 0;
  return createTool({
    id: "read",
    description: "Reads a file of the server, as it is on its disk.",
    inputSchema: z.object({ path: z.string().describe("Where the file is, from the root.") }),
    execute: async () => result(++step),
  });
}

const tokens = remembering(countTokens);

/** Tokens of what is said alone, by another tokenizer: what the provider adds to messages comes on top. */
function least({ prompt, tools }) {
  const said = prompt.flatMap(({ content }) =>
    typeof content === "string" ? [content] : content.map((part) => part.text ?? part.input ?? part.output.value),
  );
  const defined = tools.flatMap(({ name, description, inputSchema }) => [name, description, inputSchema]);
  return [...said, ...defined].reduce((sum, one) => sum + tokens(one), 0);
}

const agentWith = (made, options, tools = { read: read() }) =>
  new Agent({ id: "repair", name: "Repair", instructions: INSTRUCTIONS, model: made, tools, ...options });

test("an agent with memory, 60 steps at ten budgets", async () => {
  for (const maxTokens of BUDGETS) {
    const { made, sent } = model();
    const windows = [];
    const memory = new MockMemory();
    const inputProcessors = [new CupelProcessor({ maxTokens, onSelection: (window) => windows.push(window) })];
    const agent = agentWith(made, { memory, inputProcessors });
    const run = await agent.generate(TASK, { maxSteps: STEPS, memory: { thread: "one", resource: "user" } });
    assert.equal(run.text, "It listens on 7443.");
    assert.equal(sent.length, STEPS);
    assert.equal(windows.length, STEPS);
    for (const [at, request] of sent.entries()) {
      assert.deepEqual(problems(request.prompt), [], `step ${at} of ${maxTokens}`);
      assert.ok(least(request) <= windows[at].tokens && windows[at].tokens <= maxTokens, `${least(request)} of ${maxTokens}`);
      const text = JSON.stringify(request.prompt);
      assert.ok(text.includes(INSTRUCTIONS) && text.includes(TASK));
      assert.ok(at === 0 || text.includes(result(at)));
      assert.ok(windows[at].session, "a thread is a session");
    }
    // What the agent remembers is whole, whatever was sent.
    const { messages } = await memory.recall({ threadId: "one", resourceId: "user", perPage: false });
    const remembered = JSON.stringify(messages);
    for (let step = 1; step < STEPS; step++) assert.ok(remembered.includes(`"call-${step}"`), `call ${step} is remembered`);
    assert.equal(sent.at(-1).prompt.length < 110, maxTokens < 5_000, `${sent.at(-1).prompt.length} messages at ${maxTokens}`);
  }
});

test("the model, tools and the schema of the answer are read from the framework's objects", async () => {
  const size = async (tools, options) => {
    const { made } = model(1);
    let window;
    const inputProcessors = [new CupelProcessor({ onSelection: (told) => (window = told) })];
    await agentWith(made, { inputProcessors }, tools).generate(TASK, options).catch((error) => window ?? assert.fail(error));
    return window;
  };
  const bare = await size({});
  assert.equal(bare.summary.model, "gpt-4o");
  assert.equal(bare.summary.budget.max_tokens, 128_000);
  assert.ok((await size({ read: read() })).tokens > bare.tokens + 20);
  const schema = z.object({ port: z.number().describe("The port that the service listens on, from its configuration.") });
  assert.ok((await size({}, { structuredOutput: { schema } })).tokens > bare.tokens + 20);
  assert.equal((await size({}, { modelSettings: { maxOutputTokens: 77 } })).summary.budget.output_reserve, 77);
});

test("what cannot fit is an error before anything is sent", async () => {
  const { made, sent } = model();
  const agent = agentWith(made, { inputProcessors: [new CupelProcessor({ maxTokens: 20 })] });
  await assert.rejects(agent.generate(TASK), /what must be kept takes \d+ tokens, 20 are there/);
  assert.equal(sent.length, 0);
});

test("the types are those that the framework takes", () => compiles(import.meta.url));
