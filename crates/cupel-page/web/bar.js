// A window to scale: a stretch for each part, in the order in which the model sees them.
import { colour, el } from './dom.js';
import { ROLES, counted, grouped, roleOf } from './words.js';

const HEIGHT = 30;

/**
 * A bar of stretches `{ tokens, fill, position }`; fill is a role, `free`, `margin` or `reserve`.
 * A stretch with a position can be pointed at and chosen.
 */
export class Bar {
  constructor({ title, choose, describe }) {
    this.choose = choose;
    this.describe = describe;
    this.stretches = [];
    this.total = 0;
    this.chosen = -1;
    this.title = el('div', { className: 'bar-title' });
    this.canvas = el('canvas', { role: 'img' });
    this.tip = el('div', { className: 'tip', hidden: true, 'aria-hidden': 'true' });
    this.node = el('div', { className: 'bar' }, this.title, el('div', { className: 'bar-canvas' }, this.canvas, this.tip));
    this.name = title;
    this.canvas.addEventListener('pointermove', (event) => this.point(event));
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener('click', (event) => {
      const found = this.under(event);
      if (found?.position !== undefined) this.choose(found.position);
    });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  show(stretches, total, heading, label) {
    this.stretches = stretches;
    this.total = total;
    this.title.replaceChildren(...heading);
    this.canvas.setAttribute('aria-label', label);
    this.draw();
  }

  mark(position) {
    this.chosen = position;
    this.draw();
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    const density = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * density);
    this.canvas.height = HEIGHT * density;
    const pen = this.canvas.getContext('2d');
    pen.scale(density, density);
    const scale = width / Math.max(1, this.total);
    const colours = new Map([...ROLES.keys(), 'free', 'margin', 'reserve'].map((name) => [name, colour(`--${name}`)]));
    const paper = colour('--paper');
    let from = 0;
    for (const stretch of this.stretches) {
      const x = from * scale;
      const wide = stretch.tokens * scale;
      from += stretch.tokens;
      pen.globalAlpha = stretch.isFaint ? 0.2 : 1;
      pen.fillStyle = colours.get(stretch.fill) ?? colours.get('document');
      pen.fillRect(x, 0, wide, HEIGHT);
      pen.globalAlpha = 1;
      if (stretch.fill === 'margin' || stretch.fill === 'reserve') hatch(pen, x, wide, paper);
      if (stretch.isCached) {
        pen.fillStyle = colour('--ink');
        pen.fillRect(x, HEIGHT - 4, wide, 4);
      }
      if (wide > 3) {
        pen.fillStyle = paper;
        pen.fillRect(x + wide - 1, 0, 1, HEIGHT);
      }
    }
    this.frame(pen, scale);
  }

  frame(pen, scale) {
    let from = 0;
    for (const stretch of this.stretches) {
      if (stretch.position === this.chosen && this.chosen >= 0) {
        pen.strokeStyle = colour('--ink');
        pen.lineWidth = 2;
        pen.strokeRect(from * scale + 1, 1, Math.max(3, stretch.tokens * scale - 2), HEIGHT - 2);
      }
      from += stretch.tokens;
    }
  }

  under(event) {
    const box = this.canvas.getBoundingClientRect();
    let tokens = ((event.clientX - box.left) / box.width) * this.total;
    for (const stretch of this.stretches) {
      tokens -= stretch.tokens;
      if (tokens <= 0) return stretch;
    }
    return undefined;
  }

  point(event) {
    const found = this.under(event);
    this.tip.hidden = !found;
    this.canvas.style.cursor = found?.position === undefined ? 'default' : 'pointer';
    if (!found) return;
    this.tip.textContent = found.position === undefined ? `${grouped(found.tokens)} ${found.name}` : this.describe(found.position);
    const box = this.canvas.getBoundingClientRect();
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${Math.min(Math.max(0, event.clientX - box.left - wide / 2), Math.max(0, box.width - wide))}px`;
  }
}

function hatch(pen, x, wide, paper) {
  pen.save();
  pen.beginPath();
  pen.rect(x, 0, wide, HEIGHT);
  pen.clip();
  pen.strokeStyle = paper;
  pen.lineWidth = 2;
  pen.beginPath();
  for (let at = x - HEIGHT; at < x + wide; at += 7) {
    pen.moveTo(at, HEIGHT);
    pen.lineTo(at + HEIGHT, 0);
  }
  pen.stroke();
  pen.restore();
}

/** Tokens of a window by role: a line under the bars that says what the colours mean. */
export function legend(parts, window, tokensOf) {
  const sums = new Map();
  for (const position of window.order) {
    const role = roleOf(parts[position]);
    sums.set(role, (sums.get(role) ?? 0) + tokensOf(position));
  }
  const entries = [...ROLES].filter(([role]) => parts.some((part) => roleOf(part) === role));
  return entries.map(([role, name]) => el('li', {}, el('i', { className: `dot ${role}` }), `${name} `, el('b', {}, grouped(sums.get(role) ?? 0))));
}

/** Label of a bar for whoever cannot see it. */
export function barLabel(name, window, parts, tokens) {
  return `${name}: ${counted(window.order.length, 'part')} of ${grouped(parts.length)}, ${grouped(tokens)} tokens`;
}
