// One request: its window at the budget of the slider, and why.
import { choice, el, isTyping, put } from './dom.js';
import { Bar, barLabel, legend } from './bar.js';
import { BudgetSlider } from './slider.js';
import { Compare } from './compare.js';
import { Detail } from './detail.js';
import { VirtualList } from './virtual.js';
import { Windows, messagesIn, restOf, sentWindow, tokensIn } from './windows.js';
import { againReason, stepPanel } from './step.js';
import { fillRow, fillSides } from './rows.js';
import { headline, notices, particulars } from './headline.js';
import { counted, grouped, roleOf, whyOf } from './words.js';

export class RequestPage {
  /**
   * @param {any} view the answer that is shown
   * @param {{ask?: any, pins?: any, back?: any}} [around] the server behind the page, if there is one
   */
  constructor(view, { ask, pins, back } = {}) {
    this.view = view;
    this.windows = new Windows(view.windows, view.parts);
    this.size = this.windows.known(view.opening.size);
    this.isSent = Boolean(view.step);
    this.filter = 'all';
    this.query = '';
    this.isSides = false;
    this.chosen = -1;
    this.shown = [];
    this.back = back;
    this.pins = pins;
    this.again = new Map(view.step?.again.map((again) => [again.position, again]) ?? []);
    this.cut = new Set(view.step?.cut ?? []);
    this.cached = new Set(view.step?.cached ?? []);
    this.build(ask);
    this.onKey = (event) => this.key(event);
    document.addEventListener('keydown', this.onKey);
  }

  build(ask) {
    const { view } = this;
    const limit = view.opening.reason === 'given' ? view.opening.size : undefined;
    this.slider = new BudgetSlider({ windows: this.windows, limit, move: (size) => this.move(size) });
    this.compare = new Compare({ view, ask, change: () => this.compared() });
    const bar = (title) => new Bar({ title, choose: (position) => this.chooseAt(position), describe: (position) => this.describe(position) });
    this.before = bar('Request');
    this.after = bar('Window');
    this.besideBar = bar('Beside');
    this.list = new VirtualList({
      label: 'Messages',
      className: 'messages',
      fill: (node, index) => this.fillRow(node, this.shown[index]),
      choose: (index) => this.choose(this.shown[index]),
    });
    this.list.bounds = () => [Math.max(0, this.deck.getBoundingClientRect().bottom), this.detail.top()];
    this.detail = new Detail({ windows: this.windows, pins: this.pins, close: () => this.close() });
    this.legend = el('ul', { className: 'legend' });
    this.head = el('div', { className: 'headline', 'aria-live': 'polite' });
    this.filters = el('div', { className: 'choices', role: 'group', 'aria-label': 'Which messages' });
    this.search = el('input', {
      type: 'search',
      placeholder: 'Search  /',
      'aria-label': 'Search in the messages',
      oninput: () => {
        this.query = this.search.value.trim().toLowerCase();
        this.list.chosen = -1;
        this.update();
      },
    });
    this.sidesButton = choice('Side by side', false, () => this.toggleSides(), 'Before and after, side by side (s)');
    this.columns = el('div', { className: 'columns', 'aria-hidden': 'true' });
    this.none = el('p', { className: 'none muted', hidden: true }, 'Nothing here.');
    this.deck = el(
      'div',
      { className: 'deck' },
      this.slider.node,
      el('div', { className: 'bars' }, this.before.node, this.after.node, this.besideBar.node),
    );
    const toolbar = el('div', { className: 'toolbar' }, this.filters, this.search, this.sidesButton, this.compare.node);
    this.node = el(
      'main',
      { className: 'request' },
      this.head,
      notices(view),
      this.deck,
      this.legend,
      view.step ? stepPanel(view, (filter) => this.setFilter(filter)) : null,
      toolbar,
      this.compare.told,
      el(
        'div',
        { className: 'split' },
        el('section', { className: 'list', 'aria-label': 'Messages' }, this.columns, this.list.node, this.none),
        this.detail.node,
      ),
      particulars(view),
    );
    new ResizeObserver(() => {
      document.documentElement.style.setProperty('--deck', `${getComputedStyle(this.deck).position === 'sticky' ? this.deck.offsetHeight : 0}px`);
    }).observe(this.deck);
  }

  /** To be called once the node is in the document. */
  start() {
    this.update();
  }

  stop() {
    document.removeEventListener('keydown', this.onKey);
  }

  move(size) {
    this.size = size;
    this.isSent = false;
    this.update();
  }

  toSent() {
    this.size = this.windows.known(this.view.opening.size);
    this.isSent = true;
    this.update();
  }

  update() {
    const { view } = this;
    const fresh = this.windows.at(this.size);
    this.window = this.isSent ? { ...sentWindow(view), room: fresh.room } : fresh;
    this.other = this.compare.at(this.size, this.window.state);
    if (!this.other && this.filter === 'differs') this.filter = 'all';
    const kept = messagesIn(view.parts, this.window.state);
    put(this.head, headline(view, { kept, tokens: this.window.tokens, size: this.size, isSent: this.isSent, back: () => this.toSent() }));
    this.slider.show(
      this.size,
      `${grouped(this.size)} tokens: ${grouped(kept)} of ${counted(view.messages, 'message')} kept, ${grouped(this.window.tokens)} tokens`,
    );
    this.drawBars(kept);
    this.shown = this.positions();
    this.showFilters();
    this.showColumns(kept);
    this.list.chosen = this.shown.indexOf(this.chosen);
    this.list.show(this.shown.length);
    this.none.hidden = this.shown.length > 0;
    if (this.chosen >= 0) this.showDetail();
  }

  drawBars(kept) {
    const { view, window } = this;
    const { parts } = view;
    const stretch = (position, form) => ({
      tokens: tokensIn(parts[position], Math.max(0, form)),
      fill: roleOf(parts[position]),
      position,
      isFaint: form < 0,
    });
    const all = parts.map((_, position) => ({ ...stretch(position, window.state[position]), tokens: parts[position].tokens }));
    const heading = (name, text) => [el('b', {}, name), el('span', {}, text)];
    this.before.show(
      all,
      view.total_tokens,
      heading('Request', `${counted(view.messages, 'message')}, ${grouped(view.total_tokens)} tokens, as it came`),
      `The request as it came: ${counted(view.messages, 'message')}, ${grouped(view.total_tokens)} tokens`,
    );
    const windowBar = (bar, name, shown, text) => {
      const inOrder = shown.order.map((position) => ({
        ...stretch(position, shown.state[position]),
        isCached: this.isSent && this.cached.has(position) && bar === this.after,
      }));
      const rest = restOf(this.size, view.opening.output_reserve, window.room, shown.tokens);
      const total = shown.tokens + rest.reduce((sum, one) => sum + one.tokens, 0);
      const asides = rest
        .filter((one) => one.tokens > 0)
        .map((one) => `${grouped(one.tokens)} ${one.name}`)
        .join(', ');
      bar.show([...inOrder, ...rest], total, heading(name, `${text}${asides ? ` · ${asides}` : ''}`), barLabel(name, shown, parts, shown.tokens));
    };
    const cached = this.isSent && view.step.cached_tokens > 0 ? `, underlined what is in the cache` : '';
    windowBar(this.after, 'Window', window, `${counted(kept, 'message')}, ${grouped(window.tokens)} tokens, as the model sees it${cached}`);
    this.besideBar.node.hidden = !this.other;
    if (this.other)
      windowBar(
        this.besideBar,
        this.other.name,
        this.other,
        `${counted(messagesIn(parts, this.other.state), 'message')}, ${grouped(this.other.tokens)} tokens`,
      );
    put(
      this.legend,
      legend(parts, window, (position) => tokensIn(parts[position], window.state[position])),
    );
  }

  isIn(position) {
    return this.window.state[position] >= 0;
  }

  differs(position) {
    return Boolean(this.other) && this.isIn(position) !== this.other.state[position] >= 0;
  }

  tests() {
    return {
      all: () => true,
      kept: (position) => this.isIn(position),
      out: (position) => !this.isIn(position),
      differs: (position) => this.differs(position),
      cut: (position) => this.cut.has(position),
      again: (position) => this.again.has(position),
    };
  }

  positions() {
    const order = this.filter === 'kept' ? [...this.window.order] : this.view.parts.map((_, position) => position);
    const matches = this.tests()[this.filter];
    const wanted = this.query;
    const says = ({ excerpt, text, path, what }) => `${path} ${what} ${text ?? excerpt ?? ''}`.toLowerCase().includes(wanted);
    return order.filter((position) => matches(position) && (!wanted || says(this.view.parts[position])));
  }

  showFilters() {
    const tests = this.tests();
    const choices = [
      ['all', 'All'],
      ['kept', 'Kept'],
      ['out', 'Left out'],
      ...(this.other ? [['differs', 'Differ']] : []),
      ...(this.view.step
        ? [
            ['cut', 'Cut off'],
            ['again', 'Sent again'],
          ]
        : []),
    ];
    const count = (test) => this.view.parts.reduce((sum, _, position) => sum + (test(position) ? 1 : 0), 0);
    put(
      this.filters,
      choices.map(([name, label]) =>
        choice([label, ' ', el('span', { className: 'count' }, grouped(count(tests[name])))], this.filter === name, () => this.setFilter(name)),
      ),
    );
  }

  setFilter(name) {
    this.filter = name;
    this.update();
  }

  showColumns(kept) {
    const { view } = this;
    this.columns.className = `columns ${this.isSides ? 'sides' : ''} ${this.isSides && this.other ? 'three' : ''}`;
    const names = this.isSides
      ? [
          '',
          `before · ${counted(view.messages, 'message')}`,
          `after · ${counted(kept, 'message')}${this.other ? ` · ${view.policy}` : ''}`,
          ...(this.other ? [this.other.name] : []),
        ]
      : ['', 'what', '', 'score', 'tokens'];
    put(
      this.columns,
      names.map((name) => el('span', {}, name)),
    );
  }

  tagsOf(position) {
    const tags = [];
    if (this.differs(position)) tags.push(this.isIn(position) ? ['mine', `${this.view.policy} only`] : ['theirs', `${this.other.name} only`]);
    if (this.isSent && this.cached.has(position)) tags.push(['cached', 'cached']);
    if (this.isSent && this.cut.has(position)) tags.push(['cut', 'cut off']);
    if (this.isSent && this.again.has(position)) tags.push(['again', 'again']);
    return tags;
  }

  /** Why a part of a window that was sent is there or not; `undefined` where the budget says it. */
  sentReason(position) {
    if (!this.isSent) return undefined;
    const part = this.view.parts[position];
    if (this.again.has(position)) return againReason(this.again.get(position));
    if (!this.isIn(position))
      return this.cut.has(position) ? 'cut off to make room; the beginning stays in the cache' : 'not in the window of this session';
    if (part.pinned) return `always in: ${part.pinned}`;
    return this.cached.has(position) ? 'in the unchanged beginning, which the cache has' : 'new in this step';
  }

  whyOf(position) {
    return this.sentReason(position) ?? whyOf(this.view.parts[position], this.window.state[position], this.windows.spans[position], this.size);
  }

  fillRow(node, position) {
    const part = this.view.parts[position];
    const form = this.window.state[position];
    const shown = {
      part,
      form,
      why: this.whyOf(position),
      tags: this.tagsOf(position),
      differs: this.differs(position),
      tokens: tokensIn(part, Math.max(0, form)),
      query: this.query,
    };
    if (!this.isSides) {
      fillRow(node, shown);
      return;
    }
    if (this.other) {
      const theirs = this.other.state[position];
      shown.beside = { form: theirs, why: whyOf(part, theirs, this.other.windows.spans[position], this.size) };
    }
    fillSides(node, shown);
  }

  describe(position) {
    const part = this.view.parts[position];
    return `${part.path} · ${part.what} · ${grouped(part.tokens)} tokens · ${this.isIn(position) ? 'kept' : 'left out'}`;
  }

  choose(position) {
    this.chosen = position;
    for (const bar of [this.before, this.after, this.besideBar]) bar.mark(position);
    this.showDetail();
  }

  chooseAt(position) {
    let index = this.shown.indexOf(position);
    if (index < 0) {
      this.filter = 'all';
      this.query = '';
      this.search.value = '';
      this.update();
      index = this.shown.indexOf(position);
    }
    this.list.choose(index);
    this.list.reveal(index);
  }

  showDetail() {
    if (this.chosen < 0) {
      this.detail.empty();
      return;
    }
    this.detail.show(this.chosen, this.view.parts[this.chosen], this.window.state[this.chosen], this.size, this.sentReason(this.chosen), this.query);
  }

  close() {
    this.chosen = -1;
    this.list.chosen = -1;
    this.list.refresh();
    this.choose(-1);
  }

  toggleSides() {
    this.isSides = !this.isSides;
    this.sidesButton.setAttribute('aria-pressed', String(this.isSides));
    this.list.node.classList.toggle('sides', this.isSides);
    this.list.rowHeight = 0;
    this.update();
  }

  compared() {
    if (!this.compare.name && this.filter === 'differs') this.filter = 'all';
    this.update();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.key === 'Escape') {
      this.escape(event);
      return;
    }
    if (isTyping(event)) return;
    const names = ['all', 'kept', 'out'];
    const steps = {
      j: () => this.list.step(1),
      k: () => this.list.step(-1),
      ArrowDown: () => this.list.step(1),
      ArrowUp: () => this.list.step(-1),
      ArrowRight: () => this.move(this.windows.next(this.size, 1)),
      '.': () => this.move(this.windows.next(this.size, 1)),
      ArrowLeft: () => this.move(this.windows.next(this.size, -1)),
      ',': () => this.move(this.windows.next(this.size, -1)),
      '/': () => this.search.focus(),
      f: () => this.setFilter(names[(names.indexOf(this.filter) + 1) % names.length]),
      s: () => this.toggleSides(),
      c: () => this.compare.select.focus(),
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    steps[event.key]();
  }

  escape(event) {
    if (document.activeElement === this.search && this.search.value) {
      this.search.value = '';
      this.query = '';
      this.update();
    } else if (isTyping(event)) event.target.blur();
    else if (this.chosen >= 0) this.close();
    else this.back?.();
  }
}
