// Run by Bun and by Deno: the package as they find it by its name.
import { load, select, selectAsync } from "cupel";

const messages = [
  { role: "user", content: "The deploy key is on the blue card." },
  { role: "assistant", content: "Noted." },
  { role: "user", content: "Lunch is at noon, soup again, and the printer is out of paper." },
  { role: "user", content: "Where is the deploy key?" },
];
const before = select(messages, { maxTokens: 100 }).summary.is_estimate;
const window = await selectAsync(messages, { maxTokens: 40 });
await load();
const own = window.messages.every((message, at) => message === messages[window.kept[at]]);
console.log(JSON.stringify({ before, kept: [...window.kept], own, after: select(messages, { maxTokens: 40 }).summary.is_estimate }));
