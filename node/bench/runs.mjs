// Runs of an agent in a repository: a task, many tool calls, and a last question whose answer needs three things that were seen on the
// way. Made by a script, the same every time; the words of a question are those of what it asks for, as people ask.

/** Numbers that look random and are the same every time. */
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PARTS = ["billing", "search", "login", "mailer", "upload", "report", "cache", "queue", "export", "audit"];
const FIELDS = ["port", "timeout", "owner", "bucket", "retries", "region", "token", "schedule", "replica", "version"];
const TOOLS = ["read_file", "grep", "run"];
const NOISE = [
  "test result: ok; nothing changed since the last run",
  "warning: unused import in a generated file, ignored",
  "debug: connection pool has 12 idle and 0 waiting",
  "info: compiled 214 modules, all of them from the cache",
];

/** A run of so many messages, as the AI SDK has them, and the values that its last question needs. */
export function run(seed, count) {
  const next = numbers(seed);
  const facts = [];
  const messages = [
    { role: "system", content: "You are a coding agent. Use the tools, and answer with what they say." },
    { role: "user", content: "The deploy fails. Look through the services and their settings, then answer my questions." },
  ];
  for (let step = 0; messages.length < count - 1; step++) {
    const toolName = TOOLS[next(TOOLS.length)];
    const part = PARTS[next(PARTS.length)];
    const field = FIELDS[next(FIELDS.length)];
    const lines = Array.from({ length: 2 + next(12) }, () => `${next(24)}:${next(60)} ${part} ${NOISE[next(NOISE.length)]}`);
    if (step % 4 === 1) {
      const value = `${field[0]}${next(9_000_000) + 1_000_000}`;
      facts.push({ part, field, value });
      lines.splice(next(lines.length), 0, `${part}.${field} = ${value}`);
    }
    const toolCallId = `call_${step}`;
    messages.push(
      { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input: { path: `services/${part}/${step}.toml` } }] },
      { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output: { type: "text", value: lines.join("\n") } }] },
    );
  }
  // The newest value of a setting is the one that counts.
  const newest = [...new Map(facts.map((fact) => [`${fact.part} ${fact.field}`, fact])).values()];
  const asked = Array.from({ length: 3 }, () => newest.splice(next(newest.length), 1)[0]);
  const names = asked.map(({ part, field }) => `the ${field} of ${part}`);
  messages.push({ role: "user", content: `What is ${names.join(", and ")}?` });
  return { messages, needed: asked.map(({ value }) => value) };
}
