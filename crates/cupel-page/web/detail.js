// One part in full: why it is in or out, at which budgets it is in, and what it says.
import { el, put } from './dom.js';
import { Pinning } from './pinning.js';
import { counted, grouped, roleOf, scoreOf, spansInWords, whyOf } from './words.js';

const escaped = (word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A text in which the words that earned it its score are marked, and what is searched for. */
export function marked(text, words, query = '') {
  const wanted = words.filter((word) => word.length > 1).map(escaped);
  const sought = query === '' ? [] : [`(${escaped(query)})`];
  if (wanted.length > 0) sought.push(`(?<![\\p{L}\\p{N}])(?:${wanted.join('|')})`);
  if (sought.length === 0) return [text];
  const pattern = new RegExp(sought.join('|'), 'giu');
  const pieces = [];
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > from) pieces.push(text.slice(from, found.index));
    pieces.push(el('mark', query !== '' && found[1] !== undefined ? { className: 'hit' } : {}, found[0]));
    from = found.index + found[0].length;
    if (pieces.length > 400) break;
  }
  pieces.push(text.slice(from));
  return pieces;
}

export class Detail {
  constructor({ windows, pins, close }) {
    this.windows = windows;
    this.pinning = new Pinning(pins);
    this.body = el('div', { className: 'detail-body' });
    const button = el('button', { type: 'button', className: 'quiet close', 'aria-label': 'Close', onclick: close }, '✕');
    this.node = el('aside', { className: 'detail', 'aria-label': 'The chosen part', 'aria-live': 'polite' }, button, this.body);
    this.empty();
  }

  empty() {
    this.node.classList.remove('open');
    this.position = -1;
    put(
      this.body,
      el(
        'div',
        { className: 'hint' },
        el('p', {}, 'Choose a message to read it, and to see why it is in or out.'),
        el(
          'dl',
          { className: 'keys' },
          key('↑ ↓', 'or j k', 'the next message'),
          key('/', '', 'search'),
          key('← →', 'or , .', 'the next budget that changes something'),
          key('f', '', 'all, kept, left out'),
          key('s', '', 'side by side'),
          key('Esc', '', 'back'),
        ),
      ),
    );
  }

  show(position, part, form, size, isSent, query) {
    const isOther = this.position !== position;
    this.position = position;
    this.node.classList.add('open');
    const spans = this.windows.spans[position];
    const isIn = form >= 0;
    put(
      this.body,
      el(
        'header',
        {},
        el('i', { className: `dot ${roleOf(part)}` }),
        el('span', { className: 'path' }, part.path),
        el('span', { className: 'muted' }, part.what),
      ),
      el(
        'p',
        { className: `verdict ${isIn ? 'in' : 'out'}` },
        el('b', {}, isIn ? 'Kept' : 'Left out'),
        ` – ${isSent ?? whyOf(part, form, spans, size)}`,
      ),
      figures(part, form),
      this.pinning.of(part),
      part.pinned
        ? null
        : [
            el('h3', {}, 'At which budgets it is in'),
            this.strip(spans, size),
            el('p', { className: 'muted small' }, spansInWords(spans, this.windows.table.is_exact)),
          ],
      earned(part),
      said(part, form, query),
    );
    if (isOther) this.node.scrollTop = 0;
  }

  /** Where it begins to cover the page; below the screen if it stands beside the list. */
  top() {
    return getComputedStyle(this.node).position === 'fixed' ? this.node.getBoundingClientRect().top : innerHeight;
  }

  strip(spans, size) {
    const { lowest, highest } = this.windows;
    const share = (at) => `${(100 * (at - lowest)) / Math.max(1, highest - lowest)}%`;
    const strip = el('div', { className: 'strip', 'aria-hidden': 'true' });
    for (const [from, to] of spans) {
      const span = el('i', {});
      span.style.left = share(from);
      span.style.right = to === null ? '0' : `calc(100% - ${share(to)})`;
      strip.append(span);
    }
    const here = el('b', {});
    here.style.left = share(Math.min(Math.max(size, lowest), highest));
    strip.append(here);
    return strip;
  }
}

function key(name, other, what) {
  return [el('dt', {}, el('kbd', {}, name), other ? ` ${other}` : ''), el('dd', {}, what)];
}

function figures(part, form) {
  const short = form > 0 ? part.forms?.[form - 1] : undefined;
  const rows = [
    ['tokens', short ? `${grouped(short.tokens)} of ${grouped(part.tokens)}` : grouped(part.tokens)],
    ['score', scoreOf(part)],
    ['messages', part.messages.length > 1 ? `${grouped(part.messages.length)}, in or out together` : null],
  ];
  return el(
    'dl',
    { className: 'figures' },
    rows.filter(([, value]) => value !== null).map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
  );
}

function earned(part) {
  const words = part.words ?? [];
  const near = part.near ?? [];
  if (words.length === 0 && near.length === 0) return null;
  return [
    el('h3', {}, 'What earned it its score'),
    words.length > 0
      ? el(
          'p',
          { className: 'words' },
          words.map((word) => el('span', { className: 'word' }, word)),
        )
      : null,
    near.length > 0
      ? el(
          'p',
          { className: 'muted small' },
          'It stands near ',
          near.slice(0, 2).map((text, at) => [at > 0 ? ' and ' : '', el('q', {}, text)]),
          '.',
        )
      : null,
  ];
}

function said(part, form, query) {
  const short = form > 0 ? part.forms?.[form - 1] : undefined;
  const whole = part.text ?? part.excerpt;
  if (!whole) return el('p', { className: 'muted' }, 'Texts are not shown here.');
  const text = (content) => el('pre', { className: roleOf(part), tabindex: '0' }, marked(content, part.words ?? [], query));
  const more = part.more ? el('p', { className: 'muted small' }, `${counted(part.more, 'more character')} not shown`) : null;
  if (short?.text) return [el('h3', {}, 'As the model sees it'), text(short.text), el('h3', {}, 'As it came'), text(whole), more];
  return [el('h3', {}, 'What it says'), text(whole), more];
}
