// What windows of several tools keep, and what they take: node bench/run
//
// Each tool as its own documentation uses it. Windows are judged by rules and a tokenizer that none of them has a part in.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { pruneMessages } from "ai";
import { Engine, select } from "cupel";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { problems } from "../tests/ai-sdk/prompt.mjs";
import { run } from "./runs.mjs";

const RUNS = 20;
const COUNT = 200;
const BUDGETS = [2_000, 4_000, 8_000];

/** Tokens of a message, at least: what is said, and four for its frame. */
const known = new Map();
function tokens(message) {
  const said = typeof message.content === "string" ? message.content : message.content.map((part) => part.text ?? part.output?.value ?? JSON.stringify(part.input)).join("");
  if (!known.has(said)) known.set(said, countTokens(said));
  return known.get(said) + 4;
}
const size = (messages) => messages.reduce((sum, message) => sum + tokens(message), 0);

/** A message of the AI SDK as one of LangChain. */
function langchain({ role, content }, at) {
  const id = String(at);
  if (role === "system") return new SystemMessage({ content, id });
  if (role === "user") return new HumanMessage({ content, id });
  const [part] = content;
  if (role === "tool") return new ToolMessage({ id, content: part.output.value, tool_call_id: part.toolCallId, name: part.toolName });
  return new AIMessage({ id, content: "", tool_calls: [{ id: part.toolCallId, name: part.toolName, args: part.input, type: "tool_call" }] });
}

function trimmed(messages, startOn) {
  const own = messages.map(langchain);
  // It works on copies.
  const back = ({ id }) => messages[Number(id)];
  const tokenCounter = (list) => list.reduce((sum, message) => sum + tokens(back(message)), 0);
  const asked = { strategy: "last", includeSystem: true, startOn, tokenCounter };
  return async (maxTokens) => (await trimMessages(own, { ...asked, maxTokens })).map(back);
}

const CONTENDERS = {
  "cupel `select`": (messages) => async (maxTokens) => select(messages, { maxTokens, model: "gpt-4o" }).messages,
  "`pruneMessages`, before the last message": (messages) => async () => pruneMessages({ messages, toolCalls: "before-last-message" }),
  "`pruneMessages`, before the last 20": (messages) => async () => pruneMessages({ messages, toolCalls: "before-last-20-messages" }),
  "LangChain.js `trimMessages`, from a human's message": (messages) => trimmed(messages, "human"),
  "LangChain.js `trimMessages`, from a human's or an AI's": (messages) => trimmed(messages, ["human", "ai"]),
};

const runs = Array.from({ length: RUNS }, (_, at) => run(at + 1, COUNT));
for (const { messages } of runs) size(messages);
const percent = (share) => `${Math.round(100 * share)} %`;
const median = (values) => values.sort((one, other) => one - other)[values.length >> 1];
const rows = [];
for (const [name, made] of Object.entries(CONTENDERS)) {
  for (const maxTokens of BUDGETS) {
    let [valid, within, covered, needed] = [0, 0, 0, 0];
    const times = [];
    for (const { messages, needed: values } of runs) {
      const fit = made(messages);
      await fit(maxTokens);
      const before = process.cpuUsage();
      const kept = await fit(maxTokens);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000);
      const parts = kept.map((message) => (message.role === "user" ? { ...message, content: [{ type: "text", text: message.content }] } : message));
      valid += problems(parts).length === 0 && parts.at(-1)?.role === "user";
      within += size(kept) <= maxTokens;
      const text = JSON.stringify(kept);
      covered += size(kept) <= maxTokens ? values.filter((value) => text.includes(value)).length : 0;
      needed += values.length;
    }
    rows.push([name, maxTokens.toLocaleString("en-US"), percent(valid / RUNS), percent(within / RUNS), percent(covered / needed), median(times).toFixed(1)]);
  }
}
console.log(`${RUNS} runs of ${COUNT} messages, ${Math.round(runs.reduce((sum, one) => sum + size(one.messages), 0) / RUNS).toLocaleString("en-US")} tokens on average\n`);
console.log("| tool | budget | valid | within budget | values kept | ms |\n|---|---:|---:|---:|---:|---:|");
for (const row of rows) console.log(`| ${row.join(" | ")} |`);

// The engine alone gets the request as JSON and answers with indices: what the package adds is to write and to map.
const require = createRequire(import.meta.url);
const native = require("../lib/native.cjs").load();
const engine = new native.Engine(JSON.stringify({ handles: true }));
const own = new Engine();
const [ratios, all] = [[], []];
const timed = (work) => {
  const before = process.cpuUsage();
  for (let times = 0; times < 5; times++) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 5_000;
};
for (let round = 0; round < 3; round++) {
  for (const { messages } of runs) {
    const text = JSON.stringify(messages);
    const options = JSON.stringify({ max_tokens: 4_000, model: "gpt-4o" });
    const alone = timed(() => engine.select(text, options).kept);
    const whole = timed(() => own.select(messages, { maxTokens: 4_000, model: "gpt-4o" }).messages);
    ratios.push(whole / alone);
    all.push(whole);
  }
}
console.log(`\nselect on ${COUNT} messages: ${median(all).toFixed(1)} ms, ${median(ratios).toFixed(2)} times the engine alone (medians of ${ratios.length})`);

const importing = `const before = process.cpuUsage(); await import("cupel"); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`;
const times = Array.from({ length: 11 }, () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", importing], { cwd: new URL(".", import.meta.url), encoding: "utf8" })));
console.log(`import: ${median(times).toFixed(1)} ms (median of ${times.length}); all times are processor time`);
