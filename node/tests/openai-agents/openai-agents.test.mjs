// Real runs of the OpenAI Agents SDK with a model that follows the rules of Responses: what it is sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Runner, Usage, handoff, setTraceProcessors, setTracingDisabled, tool, withTrace } from "@openai/agents";
import { CupelError } from "cupel";
import { inputFilter } from "cupel/openai-agents";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import { compiles } from "../common/compiles.mjs";
import { INSTRUCTIONS, STEPS, TASK, asked, remembering, result } from "../common/story.mjs";

setTraceProcessors([]);

const BUDGETS = [450, 550, 650, 800, 1_000, 1_200, 1_600, 2_200, 3_500, 12_000];

/** Rules that Responses has for its input, as a list of what breaks them. */
function problems(input) {
  const found = [];
  const calls = new Map();
  for (const [at, item] of input.entries()) {
    if (item.type === "function_call") calls.set(item.callId, item.name);
    else if (item.type === "function_call_result") {
      if (calls.get(item.callId) !== item.name) found.push(`${at}: a result of no call ${item.callId}`);
      calls.delete(item.callId);
    } else if (item.type === "reasoning") {
      if (!["function_call", "message"].includes(input[at + 1]?.type)) found.push(`${at}: reasoning without what follows it`);
    } else if (item.role === undefined) found.push(`${at}: ${item.type}`);
  }
  for (const id of calls.keys()) found.push(`${id} has no result`);
  if (!input.some((item) => item.role === "user")) found.push("the user says nothing");
  return found;
}

/** A model that thinks and calls a tool at every step but the last, and what it was sent. */
class Model {
  model = "gpt-4o";
  sent = [];
  constructor(steps = STEPS) {
    this.steps = steps;
  }
  async getResponse(request) {
    this.sent.push(structuredClone({ ...request, signal: undefined }));
    const step = this.sent.length;
    const usage = new Usage();
    if (step === this.steps) {
      const content = [{ type: "output_text", text: request.outputType === "text" ? "It listens on 7443." : '{"port":7443}' }];
      return { usage, output: [{ type: "message", role: "assistant", status: "completed", content }] };
    }
    const thought = { type: "reasoning", id: `r-${step}`, content: [{ type: "input_text", text: `Part ${step} is next.` }] };
    const call = { type: "function_call", callId: `call-${step}`, name: "read", status: "completed", arguments: JSON.stringify(asked(step)) };
    return { usage, output: [thought, call] };
  }
}

function read() {
  let step = 0;
  return tool({
    name: "read",
    description: "Reads a file of the server, as it is on its disk.",
    parameters: z.object({ path: z.string().describe("Where the file is, from the root.") }),
    execute: async () => result(++step),
  });
}

const tokens = remembering(countTokens);

/** Tokens of what is said alone, by another tokenizer: what the provider adds to items comes on top. */
function least({ systemInstructions, input, tools, handoffs }) {
  const said = input.flatMap(({ type, content, arguments: given, output }) =>
    type === "reasoning" ? [] : [typeof content === "string" ? content : content?.map((part) => part.text).join(" "), given, output?.text ?? output],
  );
  // The provider writes schemas in a way of its own: what they describe is in them all the same.
  const described = ({ properties }) => Object.entries(properties).flatMap(([name, { description }]) => [name, description]);
  const defined = tools.flatMap((one) => [one.name, one.description, ...described(one.parameters)]);
  const handed = handoffs.flatMap((one) => [one.toolName, one.toolDescription]);
  return [systemInstructions, ...said, ...defined, ...handed].reduce((sum, one) => sum + tokens(one), 0);
}

const runner = (options) => new Runner({ callModelInputFilter: inputFilter(options) });

test("60 steps with a tool at ten budgets", async () => {
  for (const maxTokens of BUDGETS) {
    const model = new Model();
    const windows = [];
    const agent = new Agent({ name: "Repair", instructions: INSTRUCTIONS, model, tools: [read()] });
    const filtered = runner({ maxTokens, onSelection: (window) => windows.push(window) });
    const run = await filtered.run(agent, TASK, { maxTurns: STEPS + 1 });
    assert.equal(run.finalOutput, "It listens on 7443.");
    assert.equal(model.sent.length, STEPS);
    for (const [at, request] of model.sent.entries()) {
      assert.deepEqual(problems(request.input), [], `step ${at} of ${maxTokens}`);
      assert.ok(least(request) <= windows[at].tokens, `step ${at}: ${least(request)} in a window of ${windows[at].tokens}`);
      assert.ok(windows[at].tokens <= maxTokens);
      assert.ok(JSON.stringify(request.input).includes(TASK));
      assert.ok(at === 0 || JSON.stringify(request.input).includes(JSON.stringify(result(at)).slice(1, -1)));
    }
    // The run's own history is whole, whatever was sent.
    assert.equal(run.history.length, 1 + 3 * (STEPS - 1) + 1);
    assert.equal(model.sent.at(-1).input.length < run.history.length - 1, maxTokens < 5_000, `at ${maxTokens}`);
  }
});

test("a traced run is a session, and its windows keep their beginning", async () => {
  const same = async (sessions) => {
    const model = new Model();
    const agent = new Agent({ name: "Repair", instructions: INSTRUCTIONS, model, tools: [read()] });
    const windows = [];
    const filtered = runner({ maxTokens: 1_000, sessions, onSelection: (window) => windows.push(window) });
    await withTrace("repair", () => filtered.run(agent, TASK, { maxTurns: STEPS + 1 }));
    assert.equal(windows.every((window) => window.session !== undefined), sessions);
    let same = 0;
    for (const [at, { input }] of model.sent.entries()) {
      const before = model.sent[at - 1]?.input.map((item) => JSON.stringify(item)) ?? [];
      const differs = input.findIndex((item, index) => JSON.stringify(item) !== before[index]);
      same += differs < 0 ? input.length : differs;
    }
    return same;
  };
  setTracingDisabled(false);
  const [session, alone] = [await same(true), await same(false)];
  setTracingDisabled(true);
  assert.ok(session > 1.5 * alone, `${session} items where they were, ${alone} without a session`);
});

test("tools, handoffs and the schema of the answer are counted", async () => {
  const size = async (settings) => {
    const model = new Model(1);
    const windows = [];
    const agent = new Agent({ name: "Repair", model, ...settings });
    await runner({ onSelection: (window) => windows.push(window) }).run(agent, TASK);
    assert.equal(windows[0].summary.model, "gpt-4o");
    assert.equal(windows[0].summary.budget.max_tokens, 128_000);
    return windows[0].tokens;
  };
  const bare = await size({});
  const other = new Agent({ name: "Billing", handoffDescription: "Knows all about invoices and payments." });
  assert.ok((await size({ tools: [read()] })) > bare + 20);
  assert.ok((await size({ handoffs: [other] })) > bare + 20);
  assert.ok((await size({ handoffs: [handoff(other)] })) > bare + 20);
  assert.ok((await size({ outputType: z.object({ port: z.number().describe("The port that it listens on.") }) })) > bare + 20);
  assert.ok((await size({ tools: [{ type: "hosted_tool", name: "web_search", providerData: { type: "web_search" } }] })) > bare);
});

test("images, files and long results cross as they are; what is shortened is a copy", async () => {
  const picture = { type: "input_image", image: "https://host.example/a.png" };
  const file = { type: "input_file", file: `data:text/plain;base64,${Buffer.from("a line\n".repeat(20)).toString("base64")}`, filename: "a.txt" };
  const long = Array.from({ length: 80 }, (_, line) => `${line} ${result(3)}`).join("\n");
  const input = [
    { role: "user", content: TASK },
    { role: "assistant", status: "completed", content: [{ type: "output_text", text: "An old story. ".repeat(300) }] },
    { role: "user", content: [{ type: "input_text", text: "What is this?" }, picture, file] },
    { type: "function_call", callId: "a", name: "read", arguments: "{}", status: "completed" },
    { type: "function_call_result", callId: "a", name: "read", status: "completed", output: { type: "text", text: long } },
  ];
  const before = structuredClone(input);
  const model = new Model(1);
  const agent = new Agent({ name: "Repair", model, tools: [read()] });
  await runner({ maxTokens: 1_900, shorten: "all" }).run(agent, input);
  const sent = model.sent[0].input;
  assert.deepEqual(input, before);
  assert.deepEqual(problems(sent), []);
  assert.ok(!sent.some((item) => item.role === "assistant"), "the story is left out");
  assert.deepEqual(sent.at(-3).content, before[2].content);
  assert.ok(JSON.stringify(sent.at(-1).output).length < long.length);
});

test("what cannot fit is an error before anything is sent", async () => {
  const model = new Model(1);
  const agent = new Agent({ name: "Repair", instructions: INSTRUCTIONS, model });
  const run = runner({ maxTokens: 10 }).run(agent, TASK);
  await assert.rejects(run, (error) => error instanceof CupelError && error.code === "does-not-fit");
  assert.equal(model.sent.length, 0);
  assert.throws(() => inputFilter({ repair: true }), { path: "repair" });
});

test("the types are those that the framework takes", () => compiles(import.meta.url));
