// How numbers, parts and reasons are told.

const NUMBER = new Intl.NumberFormat('en-US');

export function grouped(number) {
  return NUMBER.format(number);
}

export function counted(number, one, many = `${one}s`) {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

export function percent(share) {
  const value = 100 * share;
  return `${value > 0 && value < 1 ? value.toFixed(1) : Math.round(value)} %`;
}

export function scoreOf(part) {
  if (part.pinned) return 'always';
  return part.score === undefined || part.score === null ? '–' : part.score.toFixed(3);
}

/** Role of a part: it has a colour and a word. */
export function roleOf(part) {
  if (part.kind === 'SystemPrompt') return 'system';
  if (part.kind === 'ToolDefinition') return 'tools';
  if (part.kind === 'ToolOutput') return 'tool';
  if (part.kind === 'Document' || part.kind === 'Memory') return 'document';
  if (/^(user|human)\b/i.test(part.what)) return 'user';
  if (/^(system|developer)\b/i.test(part.what)) return 'system';
  if (/tool|function/i.test(part.what)) return 'tool';
  if (/^(assistant|model|ai|reasoning)\b/i.test(part.what)) return 'assistant';
  return 'document';
}

export const ROLES = new Map([
  ['system', 'instructions'],
  ['tools', 'tool definitions'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'calls and results'],
  ['document', 'other'],
]);

/** Why a part is out where budget is not the reason. */
function otherReason(why) {
  switch (why.reason) {
    case 'same-text':
      return why.path ? `same text as ${why.path}, which is in` : 'the same text is in already';
    case 'too-many-of-kind':
      return `the policy takes at most ${grouped(why.cap)} of kind ${why.kind}`;
    case 'no-room-for-needs':
      return `with ${why.paths[0]}, which it needs, it has ${grouped(why.tokens)} tokens`;
    case 'share-used-up':
      return 'the part of the window for its kind is used up';
    default:
      return why.text ?? 'the policy leaves it out';
  }
}

/** Where on the way to more budget a part comes in: `{ next, before }`. */
function places(spans, size) {
  const next = spans.find(([from]) => from > size);
  const before = spans.filter(([, to]) => to !== null && to <= size).at(-1);
  return { next, before };
}

/** Why a part is in or out at a size, in a few words. */
export function whyOf(part, form, spans, size) {
  if (form >= 0) {
    if (part.pinned) return form > 0 ? `${part.pinned}; shortened` : `always in: ${part.pinned}`;
    if (form > 0) {
      const short = part.forms?.[form - 1];
      return short ? `shortened from ${grouped(part.tokens)} (${short.name})` : 'shortened';
    }
    return 'its score earned a place';
  }
  const { next, before } = places(spans, size);
  if (next) {
    const more = `needs ${grouped(next[0] - size)} tokens more`;
    return before ? `${more}; gave way to something larger` : more;
  }
  if (before) return `gave way to something larger at ${grouped(before[1])} tokens`;
  return part.why ? otherReason(part.why) : 'no budget brings it in';
}

/** The budgets at which a part is in, in words. */
export function spansInWords(spans, isExact) {
  if (spans.length === 0) return 'At no budget.';
  const about = isExact ? '' : 'about ';
  const told = spans
    .slice(0, 3)
    .map(([from, to]) => (to === null ? `from ${about}${grouped(from)} tokens on` : `from ${about}${grouped(from)} to ${grouped(to - 1)}`));
  const more = spans.length > 3 ? `, and ${spans.length - 3} more times` : '';
  return `In ${told.join(', ')}${more}.`;
}

export function timeOf(milliseconds) {
  const time = new Date(milliseconds);
  const two = (number) => String(number).padStart(2, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

export function dollars(amount) {
  const digits = amount >= 100 ? 0 : amount >= 1 ? 2 : amount >= 0.01 ? 3 : 5;
  return `$${amount.toFixed(digits)}`;
}
