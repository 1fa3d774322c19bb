// The budget: a slider over the curve of what each budget keeps.
import { colour, el } from './dom.js';
import { grouped } from './words.js';

const HEIGHT = 44;
/** Half of the thumb: where the track begins and ends. */
const INSET = 9;

export class BudgetSlider {
  constructor({ windows, limit, move }) {
    this.windows = windows;
    this.move = move;
    this.limit = limit;
    this.worth = windows.worth();
    this.canvas = el('canvas', { className: 'curve', 'aria-hidden': 'true' });
    this.input = el('input', { type: 'range', id: 'budget', min: windows.lowest, max: windows.highest, step: 1, 'aria-label': 'Budget in tokens' });
    this.number = el('input', {
      type: 'text',
      inputmode: 'numeric',
      className: 'number',
      'aria-label': 'Budget in tokens, as a number',
      autocomplete: 'off',
    });
    const ends = el(
      'div',
      { className: 'ends', 'aria-hidden': 'true' },
      el('span', {}, `${grouped(windows.lowest)} · what must be kept`),
      el('span', {}, `everything · ${grouped(windows.highest)}`),
    );
    const hint =
      'The curve is the share of all score that each budget keeps. Arrows go to the next budget at which the window changes, Page Up and Down in larger steps.';
    this.node = el(
      'div',
      { className: 'slider' },
      el('div', { className: 'slider-head' }, el('label', { for: 'budget' }, 'Budget'), this.number, el('span', { className: 'muted' }, 'tokens')),
      el('div', { className: 'track', title: hint }, this.canvas, this.input),
      ends,
    );
    this.input.addEventListener('input', () => this.move(this.windows.known(Number(this.input.value))));
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.number.addEventListener('change', () => this.typed());
    this.number.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.typed();
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  typed() {
    const text = this.number.value
      .trim()
      .toLowerCase()
      .replaceAll(/[,_\s]/g, '');
    const size = text.endsWith('k') ? 1000 * Number(text.slice(0, -1)) : Number(text);
    if (Number.isFinite(size) && size > 0) this.move(this.windows.known(size));
    else this.show(this.size, this.told);
  }

  key(event) {
    const leap = Math.max(1, Math.round((this.windows.highest - this.windows.lowest) / 20));
    const to = {
      ArrowRight: () => this.windows.next(this.size, 1),
      ArrowUp: () => this.windows.next(this.size, 1),
      ArrowLeft: () => this.windows.next(this.size, -1),
      ArrowDown: () => this.windows.next(this.size, -1),
      PageUp: () => this.size + leap,
      PageDown: () => this.size - leap,
      Home: () => this.windows.lowest,
      End: () => this.windows.highest,
    }[event.key];
    if (!to || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(this.windows.known(to()));
  }

  /** Stands at a size; `told` is what a screen reader says of it. */
  show(size, told) {
    this.size = size;
    this.told = told;
    this.input.value = String(size);
    this.input.setAttribute('aria-valuetext', told);
    if (document.activeElement !== this.number || this.number.value === '') this.number.value = grouped(size);
    this.draw();
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (width === 0 || this.size === undefined) return;
    const density = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = HEIGHT * density;
    const pen = this.canvas.getContext('2d');
    pen.scale(density, density);
    const { at } = this.windows.table;
    const range = Math.max(1, this.windows.highest - this.windows.lowest);
    const x = (size) => INSET + ((size - this.windows.lowest) / range) * (width - 2 * INSET);
    const y = (share) => HEIGHT - 1 - share * (HEIGHT - 6);
    const trace = (until) => {
      pen.beginPath();
      pen.moveTo(x(at[0]), HEIGHT);
      for (let index = 0; index < at.length && at[index] <= until; index += 1) {
        if (index > 0) pen.lineTo(x(at[index]), y(this.worth[index - 1]));
        pen.lineTo(x(at[index]), y(this.worth[index]));
      }
      const last = this.worth[this.windows.indexAt(until)];
      pen.lineTo(x(until), y(last));
      pen.lineTo(x(until), HEIGHT);
      pen.closePath();
    };
    pen.fillStyle = colour('--line');
    trace(this.windows.highest);
    pen.fill();
    pen.fillStyle = colour('--accent');
    pen.globalAlpha = 0.45;
    trace(this.size);
    pen.fill();
    pen.globalAlpha = 1;
    if (this.limit >= this.windows.lowest && this.limit <= this.windows.highest) {
      pen.fillStyle = colour('--ink');
      pen.fillRect(Math.round(x(this.limit)) - 0.5, 0, 1, HEIGHT);
    }
  }
}
