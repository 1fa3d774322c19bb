// Rules that the AI SDK and its providers have for a prompt, as a list of what breaks them.

const PARTS = {
  user: ["text", "file"],
  assistant: ["text", "file", "reasoning", "tool-call", "tool-result"],
  tool: ["tool-result"],
};

export function problems(prompt) {
  const found = [];
  let open = new Map();
  let isBegun = false;
  for (const [at, { role, content }] of prompt.entries()) {
    if (role === "system") {
      if (typeof content !== "string") found.push(`${at}: the content of a system message is no text`);
      if (isBegun) found.push(`${at}: a system message behind others`);
      continue;
    }
    if (!isBegun && role !== "user") found.push(`${at}: ${role} speaks first`);
    isBegun = true;
    if (!Array.isArray(content) || content.length === 0) found.push(`${at}: no parts`);
    for (const { type } of content) if (!PARTS[role]?.includes(type)) found.push(`${at}: ${type} of ${role}`);
    const results = content.filter((part) => part.type === "tool-result");
    if (role === "tool") {
      for (const { toolCallId, toolName, output } of results) {
        if (open.get(toolCallId) !== toolName) found.push(`${at}: a result of no call ${toolCallId}`);
        open.delete(toolCallId);
        if (typeof output?.type !== "string") found.push(`${at}: a result without a type`);
      }
      continue;
    }
    for (const id of open.keys()) found.push(`${at}: ${id} has no result`);
    open = new Map(content.filter((part) => part.type === "tool-call").map((part) => [part.toolCallId, part.toolName]));
  }
  for (const id of open.keys()) found.push(`the end: ${id} has no result`);
  return found;
}
