// The list of requests that went through a gateway, as they come.
import { el, isTyping, put } from './dom.js';
import { follow, requestsAfter } from './api.js';
import { LearntLimits } from './limits.js';
import { VirtualList } from './virtual.js';
import { counted, grouped, percent, timeOf } from './words.js';

const STATUS = {
  whole: ['whole', 'fits: went on byte for byte'],
  fitted: ['fitted', 'made to fit'],
  passed: ['passed', 'could not be fitted: went on as it was'],
  refused: ['refused', 'refused here'],
  failed: ['failed', 'the upstream failed'],
};

export class RequestList {
  constructor({ open }) {
    this.open = open;
    this.instance = null;
    this.rows = [];
    this.query = '';
    this.state = el('span', { className: 'live', role: 'status' }, 'connecting …');
    this.summary = el('p', { className: 'sub' });
    this.search = el('input', {
      type: 'search',
      placeholder: 'Search  /',
      'aria-label': 'Search in the requests',
      oninput: () => {
        this.query = this.search.value.trim().toLowerCase();
        this.show();
      },
    });
    this.list = new VirtualList({
      label: 'Requests',
      className: 'requests',
      fill: (node, index) => fillRequest(node, this.shown[index]),
      choose: () => {},
      open: (index) => {
        const row = this.shown[index];
        if (row?.has_view) this.open(row.id);
      },
    });
    this.limits = new LearntLimits();
    this.none = el('div', { className: 'none muted' }, 'No requests yet. They appear here as they come.');
    const columns = el(
      'div',
      { className: 'columns requests', 'aria-hidden': 'true' },
      ['', 'request', 'conversation', 'tokens', 'messages', 'cached', 'time'].map((name) => el('span', {}, name)),
    );
    this.node = el(
      'main',
      { className: 'all-requests' },
      el('div', { className: 'headline' }, el('h1', {}, 'Requests ', this.state), this.summary),
      this.limits.node,
      el('div', { className: 'toolbar' }, this.search),
      el('section', { className: 'list' }, columns, this.list.node, this.none),
    );
    this.shown = [];
    this.onKey = (event) => this.key(event);
    this.source = follow(
      (rows) => this.take(rows),
      (state) => this.setState(state),
      () => this.rows[0]?.id ?? 0,
    );
  }

  start() {
    document.addEventListener('keydown', this.onKey);
    this.show();
    this.limits.refresh();
  }

  stop() {
    document.removeEventListener('keydown', this.onKey);
  }

  setState(state) {
    this.state.dataset.state = state;
    this.state.textContent = state === 'live' ? 'live' : 'no connection; trying again';
  }

  /** Newest first. Another instance begins its numbers anew, and so does the list. */
  take({ instance, rows }) {
    if (this.instance !== null && instance !== this.instance) {
      this.rows = [];
      this.list.chosen = -1;
      this.instance = instance;
      requestsAfter(0).then(
        (all) => this.take(all),
        () => this.setState('lost'),
      );
    }
    this.instance = instance;
    const known = new Map(this.rows.map((row) => [row.id, row]));
    for (const row of rows) known.set(row.id, row);
    if (rows.length > 0) this.limits.refresh();
    this.rows = [...known.values()].sort((one, other) => other.id - one.id);
    this.show();
  }

  show() {
    const says = (row) =>
      `${row.id} ${row.model ?? ''} ${row.title ?? ''} ${row.conversation ?? ''} ${CALLERS[row.caller]?.[0] ?? ''} ${row.status} ${row.note ?? ''}`.toLowerCase();
    const chosen = this.shown[this.list.chosen]?.id;
    this.shown = this.query ? this.rows.filter((row) => says(row).includes(this.query)) : this.rows;
    this.list.chosen = this.shown.findIndex((row) => row.id === chosen);
    this.list.show(this.shown.length);
    this.none.hidden = this.shown.length > 0;
    const sum = (name) => this.rows.reduce((total, row) => total + (row[name] ?? 0), 0);
    const [before, after] = [sum('tokens_before'), sum('tokens_after')];
    put(
      this.summary,
      `${counted(this.rows.length, 'request')}, ${grouped(before)} tokens came, ${grouped(after)} went on`,
      before > after ? ` (${percent(1 - after / before)} less)` : '',
      '.',
    );
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (isTyping(event)) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
    if (event.key in steps) this.list.step(steps[event.key]);
    else if (event.key === 'Enter' && this.list.chosen >= 0) this.list.onOpen(this.list.chosen);
    else if (event.key === '/') this.search.focus();
    else return;
    event.preventDefault();
  }
}

const CALLERS = { 'sub-agent': ['sub-agent', 'an agent that another one started'], 'side-call': ['side call', 'beside the work, as for a title'] };

/** Which conversation: the number of its first request, in a colour of its own, and who of an agent speaks in it. */
function conversationMark(row) {
  if (!row.conversation) return null;
  const number = /-(\d+)$/.exec(row.conversation)?.[1] ?? row.conversation;
  const [word, hint] = CALLERS[row.caller] ?? [];
  return [
    el('span', { className: `thread t${[...number].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 8, 0)}` }, `#${number}`),
    word ? el('span', { className: `tag caller ${row.caller}`, title: hint }, word) : null,
  ];
}

function fillRequest(node, row) {
  const [word, hint] = STATUS[row.status] ?? [row.status, ''];
  node.className = `row request-row ${row.status} ${row.has_view ? '' : 'closed'}`;
  const number = (value) => (value === undefined || value === null ? '–' : grouped(value));
  const cut = row.tokens_before > row.tokens_after;
  const share = el('i', { className: 'share', 'aria-hidden': 'true' }, el('i', {}));
  share.hidden = !(row.tokens_before > 0);
  if (row.tokens_before > 0) share.firstChild.style.width = `${(100 * (row.tokens_after ?? row.tokens_before)) / row.tokens_before}%`;
  put(
    node,
    el('span', { className: `status ${row.status}`, title: hint }, word),
    el(
      'span',
      { className: 'what' },
      el('span', { className: 'says' }, row.title ?? row.model ?? `request ${row.id}`),
      el(
        'span',
        { className: 'why' },
        [row.title ? row.model : null, row.note, row.http_status >= 400 ? `answered ${row.http_status}` : null].filter(Boolean).join(' · '),
      ),
    ),
    el(
      'span',
      { className: 'conversation', title: row.conversation ?? '' },
      conversationMark(row),
      row.step ? el('span', { className: 'muted' }, ` step ${grouped(row.step)}`) : null,
    ),
    el('span', { className: 'before-after' }, el('span', {}, number(row.tokens_before), cut ? ` → ${number(row.tokens_after)}` : ''), share),
    el('span', { className: 'kept' }, row.dropped > 0 ? `${number(row.kept)} of ${number(row.kept + row.dropped)}` : number(row.kept)),
    el('span', { className: 'cached' }, number(row.cached_prefix)),
    el('time', {}, timeOf(row.time_ms)),
  );
}
