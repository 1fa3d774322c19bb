// One message as a row: by itself, or before and after side by side.
import { el, put } from './dom.js';
import { marked } from './detail.js';
import { grouped, roleOf, scoreOf } from './words.js';

const STATES = { in: ['■', 'kept'], out: ['□', 'left out'] };

function mark(isIn, role) {
  const [sign, word] = STATES[isIn ? 'in' : 'out'];
  return el('span', { className: `mark ${role}` }, el('span', { 'aria-hidden': 'true' }, sign), el('span', { className: 'unseen' }, `${word}: `));
}

function tags(shown) {
  return shown.tags.map(([name, text]) => el('span', { className: `tag ${name}` }, text));
}

function wordsOf(part) {
  const words = (part.words ?? []).slice(0, 4);
  return words.length === 0
    ? null
    : el(
        'span',
        { className: 'row-words' },
        words.map((word) => el('span', { className: 'word' }, word)),
      );
}

/** Beginning of a part; where texts are not shown, its description. */
function beginning(part, query) {
  return part.excerpt ? marked(part.excerpt, part.words ?? [], query) : [el('span', { className: 'muted' }, part.what)];
}

/** `shown` is `{ part, form, why, tags, query, beside }`. */
export function fillRow(node, shown) {
  const { part, form, why } = shown;
  const role = roleOf(part);
  node.className = `row ${form >= 0 ? 'in' : 'out'}`;
  put(
    node,
    mark(form >= 0, role),
    el('span', { className: 'who' }, el('span', { className: 'role' }, part.what), el('span', { className: 'path' }, part.path)),
    el(
      'span',
      { className: 'what' },
      el('span', { className: 'says' }, beginning(part, shown.query)),
      el('span', { className: 'why' }, tags(shown), el('span', { className: 'reason' }, why), wordsOf(part)),
    ),
    el('span', { className: 'score', title: 'score' }, scoreOf(part)),
    el('span', { className: 'tokens', title: 'tokens' }, grouped(shown.tokens)),
  );
}

function cell(part, form, isFirst, why, query) {
  if (form < 0) return el('span', { className: 'cell gone' }, el('span', { className: 'says' }, 'left out'), el('span', { className: 'why' }, why));
  const short = form > 0 ? part.forms?.[form - 1] : undefined;
  const text = short?.text ? [short.text.slice(0, 240)] : beginning(part, query);
  const tokens = short?.tokens ?? part.tokens;
  const label = isFirst ? part.what : short ? short.name : why;
  return el(
    'span',
    { className: `cell ${roleOf(part)}` },
    el('span', { className: 'says' }, text),
    el('span', { className: 'why' }, el('span', { className: 'reason' }, label), el('span', { className: 'count' }, grouped(tokens))),
  );
}

export function fillSides(node, shown) {
  const { part, form, beside } = shown;
  node.className = `row sides ${form >= 0 ? 'in' : 'out'} ${beside ? 'three' : ''} ${shown.differs ? 'differs' : ''}`;
  put(
    node,
    mark(form >= 0, roleOf(part)),
    cell(part, 0, true, '', shown.query),
    cell(part, form, false, shown.why, shown.query),
    beside ? cell(part, beside.form, false, beside.why, shown.query) : null,
  );
}
