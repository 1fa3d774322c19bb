// What the page says first: how much the model sees, of what, and why at this budget.
import { el } from './dom.js';
import { toolsPanel } from './tools.js';
import { counted, grouped, percent } from './words.js';

/** `now` is `{ kept, tokens, size, isSent, back }`. */
export function headline(view, now) {
  const all = now.kept === view.messages;
  const sees = now.isSent ? 'was sent' : 'sees';
  const title = all
    ? `The model ${sees} all ${counted(view.messages, 'message')}`
    : `The model ${sees} ${grouped(now.kept)} of ${counted(view.messages, 'message')}`;
  const share = view.total_tokens > 0 ? now.tokens / view.total_tokens : 1;
  const left = view.messages - now.kept;
  return [
    el('h1', {}, title),
    el(
      'p',
      { className: 'sub' },
      `${grouped(now.tokens)} of the request’s ${grouped(view.total_tokens)} tokens (${percent(share)}) at a budget of ${grouped(now.size)}`,
      left > 0 ? `; ${counted(left, 'message')} left out` : '',
      '. ',
      view.step && !now.isSent ? moved(now) : null,
    ),
    view.query ? el('p', { className: 'question' }, el('span', { className: 'muted' }, 'Chosen for '), el('q', {}, shortened(view.query))) : null,
  ];
}

function moved(now) {
  return el(
    'span',
    { className: 'moved' },
    `This is what the policy alone would choose at ${grouped(now.size)} tokens. `,
    el('button', { type: 'button', className: 'link', onclick: now.back }, 'Back to what was sent'),
  );
}

function shortened(text) {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 220 ? `${line.slice(0, 220)}…` : line;
}

/** Notices that a newcomer must read before anything else. */
export function notices(view) {
  const { reason, limit } = view.opening;
  const start = `To show what is kept when it does not, the budget starts at ${percent(view.opening.size / Math.max(1, view.total_tokens))} of the request. Move the slider.`;
  if (reason === 'taste') {
    return el(
      'p',
      { className: 'notice' },
      el('b', {}, 'This request fits whole. '),
      `It needs ${grouped(view.total_tokens)} tokens, and ${view.model ? `${view.model}’s window` : 'its window'} has ${grouped(limit)}: nothing would be left out. ${start}`,
    );
  }
  if (reason === 'unknown') {
    return el(
      'p',
      { className: 'notice' },
      el('b', {}, 'Nothing says how much fits. '),
      `${view.model ? `The model ${view.model} is not known` : 'The request names no model'}, and no budget was given. ${start.replace('when it does not', 'at a budget')}`,
    );
  }
  if (limit !== undefined && limit < view.windows.at[0]) {
    return el(
      'p',
      { className: 'notice' },
      el('b', {}, 'What must be kept does not fit. '),
      `It takes a budget of ${grouped(view.windows.at[0])} tokens, and this one has ${grouped(limit)}. The slider starts where it fits.`,
    );
  }
  if (view.opening.size > view.windows.at.at(-1)) {
    return el(
      'p',
      { className: 'notice' },
      el('b', {}, 'This request fits whole. '),
      `Its limit is ${grouped(limit)} tokens; the slider goes up to where everything is in.`,
    );
  }
  return null;
}

/** Tools, policy and tokenizer: for whoever wants to know. */
export function particulars(view) {
  const rows = [
    ['policy', view.policy],
    ['what it went by', view.signals?.map(({ text }) => text).join('; ')],
    ['language', view.language],
    ['model', view.model],
    ['format', view.format],
    ['tokens', `${view.is_estimate ? 'estimated' : 'exact'}, ${view.tokenizer}`],
    ['always kept', `${grouped(view.pinned_tokens)} tokens`],
    [
      'budgets',
      view.windows.is_exact
        ? `${counted(view.windows.at.length, 'window')}: every budget at which one changes`
        : `${counted(view.windows.at.length, 'window')}, evenly apart: there are too many to try all`,
    ],
    ['before', view.notes?.join('; ')],
  ];
  const judged = el(
    'details',
    { className: 'particulars' },
    el('summary', {}, 'How it was judged and counted'),
    el(
      'dl',
      {},
      rows.filter(([, value]) => value).map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
    ),
  );
  return [toolsPanel(view), judged];
}
