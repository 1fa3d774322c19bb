"use strict";
// Explanations for people, as text.

const number = (value) => value.toLocaleString("en-US");

/** A window in a line. */
function headline(summary) {
  const { messages_after: kept, messages_before: before, tokens_after: tokens, tokens_before: from } = summary;
  const fits = summary.budget.target_tokens;
  return `kept ${number(kept)} of ${number(before)} messages, ${number(tokens)} of ${number(fits)} tokens, from ${number(from)}`;
}

/** Why something is out. */
function why(reason) {
  switch (reason.reason) {
    case "no-room":
      return `${number(reason.left)} left for it`;
    case "no-room-for-needs":
      return `${number(reason.left)} left, ${number(reason.tokens)} with ${reason.paths[0]}, which it needs`;
    case "share-used-up":
      return "the share of its kind is used up";
    case "pins-leave-no-room":
      return `what must be in leaves ${number(reason.left)}`;
    case "same-text":
      return reason.path ? `same text as ${reason.path}` : "same text as another";
    case "too-many-of-kind":
      return `only ${reason.cap} of ${reason.kind}`;
    default:
      return reason.text;
  }
}

/** Tokens or budget with which it would get in. */
function toGetIn(way) {
  if (way.how === "more-tokens") return `needs ${number(way.tokens)} tokens more`;
  return way.how === "less-tokens" ? `in at a budget of ${number(way.budget)}` : "by no budget";
}

/** A line of a table: its score, its tokens, the reason and the part. */
function line(score, part, reason) {
  const shown = typeof score === "number" ? score.toFixed(3) : "–";
  return `  ${shown}  ${number(part.tokens).padStart(6)}  ${reason}  ${part.path}: ${part.what} · ${part.excerpt}`;
}

function toolLine(tool) {
  const how = tool.fate === "left-out" ? "left out" : (tool.step ?? "whole");
  return `  ${number(tool.tokens_after).padStart(6)} of ${number(tool.tokens_before)}  ${how}  ${tool.why}  ${tool.name}`;
}

/** The whole explanation as text. */
function explained(told) {
  const lines = [headline(told.summary), ...(told.signals ?? []).map((signal) => signal.text), "", "kept, in order"];
  for (const { score, part, reason } of told.kept) lines.push(line(score, part, part.pinned ?? reason));
  if (told.left_out.length > 0) {
    lines.push("", "left out, best first");
    for (const out of told.left_out) lines.push(line(out.score, out.part, `${why(out.why)}, ${toGetIn(out.to_get_in)}`));
  }
  if (told.hidden > 0) lines.push(`and ${number(told.hidden)} more`);
  const tools = told.tools ?? [];
  if (tools.some((tool) => tool.fate !== "whole")) lines.push("", "tools", ...tools.map(toolLine));
  for (const one of told.superseded ?? []) lines.push(`dropped ${one.older}: ${one.why} in ${one.newer}`);
  return lines.join("\n");
}

module.exports = { explained, headline };
