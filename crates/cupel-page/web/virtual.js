// A list of any length, of which only what is on the screen exists.
import { el, onceAFrame } from './dom.js';

/** Rows beyond the screen, on each side. */
const BEYOND = 8;

/**
 * Rows of one height that scroll with the page. `fill(node, index)` makes a row of a node;
 * `choose(index)` is told when one is chosen.
 */
export class VirtualList {
  /** @param {{label: string, className: string, fill: Function, choose: Function, open?: Function}} rows */
  constructor({ label, className, fill, choose, open }) {
    /** @type {undefined | (() => [number, number])} */
    this.bounds = undefined;
    this.fill = fill;
    this.onChoose = choose;
    this.onOpen = open ?? (() => {});
    this.count = 0;
    this.chosen = -1;
    this.rows = new Map();
    this.spare = [];
    this.rowHeight = 0;
    this.prefix = `row-${Math.random().toString(36).slice(2, 8)}-`;
    this.node = el('div', { role: 'listbox', tabindex: '0', 'aria-label': label, className: `virtual ${className}` });
    this.node.addEventListener('keydown', (event) => this.key(event));
    this.node.addEventListener('click', (event) => {
      const row = event.target.closest('[role=option]');
      if (row) {
        this.choose(Number(row.dataset.index));
        this.onOpen(this.chosen);
      }
    });
    const soon = onceAFrame(() => this.draw());
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', () => {
      this.rowHeight = 0;
      soon();
    });
    this.soon = soon;
  }

  /** Shows so many rows, all of them anew. */
  show(count) {
    this.count = count;
    if (this.chosen >= count) this.chosen = -1;
    this.recycle(() => true);
    this.draw();
  }

  /** Fills the rows that are there anew. */
  refresh() {
    for (const [index, row] of this.rows) this.fillRow(row, index);
  }

  height() {
    if (this.rowHeight === 0) {
      this.rowHeight = parseFloat(getComputedStyle(this.node).getPropertyValue('--row')) || 48;
    }
    return this.rowHeight;
  }

  draw() {
    if (!this.node.isConnected) return;
    const height = this.height();
    this.node.style.height = `${this.count * height}px`;
    const above = -this.node.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(above / height) - BEYOND);
    const last = Math.min(this.count, Math.ceil((above + innerHeight) / height) + BEYOND);
    this.recycle((index) => index < first || index >= last);
    for (let index = first; index < last; index += 1) {
      if (this.rows.has(index)) continue;
      const row = this.spare.pop() ?? el('div', { role: 'option' });
      this.fillRow(row, index);
      row.style.transform = `translateY(${index * height}px)`;
      this.rows.set(index, row);
    }
    for (const row of this.spare.splice(0)) row.remove();
    this.arrange(first, last);
  }

  /** Readers of the page meet rows in the order in which they are seen. */
  arrange(first, last) {
    let before = null;
    for (let index = last - 1; index >= first; index -= 1) {
      const row = this.rows.get(index);
      if (row.nextSibling !== before || !row.isConnected) this.node.insertBefore(row, before);
      before = row;
    }
  }

  recycle(isGone) {
    for (const [index, row] of this.rows) {
      if (!isGone(index)) continue;
      this.rows.delete(index);
      this.spare.push(row);
    }
  }

  fillRow(row, index) {
    row.id = this.prefix + index;
    row.dataset.index = index;
    row.setAttribute('aria-setsize', this.count);
    row.setAttribute('aria-posinset', index + 1);
    row.setAttribute('aria-selected', String(index === this.chosen));
    this.fill(row, index);
  }

  choose(index) {
    if (index < 0 || index >= this.count) return;
    this.chosen = index;
    this.refresh();
    this.node.setAttribute('aria-activedescendant', this.prefix + index);
    this.onChoose(index);
  }

  /** Brings a row onto the screen, between what is fixed at the top and at the bottom (`bounds`). */
  reveal(index) {
    const height = this.height();
    const [top, bottom] = this.bounds?.() ?? [0, innerHeight];
    const from = this.node.getBoundingClientRect().top + index * height;
    if (from < top) scrollBy(0, from - top - height);
    else if (from + height > bottom) scrollBy(0, from + height - bottom + Math.min(height, (bottom - top) / 4));
    this.draw();
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(innerHeight / this.height()) - 4);
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      event.preventDefault();
      event.stopPropagation();
      this.step(steps[event.key]);
    } else if (event.key === 'Enter' && this.chosen >= 0) {
      event.preventDefault();
      this.onOpen(this.chosen);
    }
  }

  step(by) {
    if (this.count === 0) return;
    const next = Math.min(this.count - 1, Math.max(0, this.chosen + by));
    this.choose(this.chosen < 0 && by === 1 ? 0 : next);
    this.reveal(this.chosen);
  }
}
