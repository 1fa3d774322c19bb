// What a run costs, step by step, beside what other ways to send it would have cost.
import { el, svg } from './dom.js';
import { dollars, grouped } from './words.js';

const LINES = [
  ['everything', 'everything each time'],
  ['newest_first', 'newest first'],
  ['sent', 'this session'],
];
const HEIGHT = 220;
const EDGE = { left: 8, right: 200, top: 14, bottom: 40 };
/** Where there is no room for labels beside the lines, they stand below. */
const NARROW = { left: 4, right: 4, top: 10, bottom: 40 };

/** Tokens in money where prices are known, and else those that no cache had. */
function costOf(prices) {
  if (!prices) return (usage) => usage.uncached_tokens;
  return (usage) => (prices.cache_read * usage.cached_tokens + prices.cache_write * usage.uncached_tokens) / 1e6;
}

/** Labels that would lie on each other are moved apart. */
function apart(labels) {
  labels.sort((one, other) => one.y - other.y);
  for (let at = 1; at < labels.length; at += 1) labels[at].y = Math.max(labels[at].y, labels[at - 1].y + 15);
  return labels;
}

export function runChart(step) {
  const { run, prices } = step;
  const isNarrow = matchMedia('(max-width: 44rem)').matches;
  const [width, edge] = isNarrow ? [360, NARROW] : [820, EDGE];
  const cost = costOf(prices);
  const tell = prices ? dollars : (tokens) => grouped(Math.round(tokens));
  const most = Math.max(1e-9, ...run.flatMap((point) => LINES.map(([name]) => cost(point[name]))));
  const x = (at) => edge.left + (run.length > 1 ? at / (run.length - 1) : 1) * (width - edge.left - edge.right);
  const y = (value) => HEIGHT - edge.bottom - (value / most) * (HEIGHT - edge.top - edge.bottom);
  const last = run.at(-1);
  const lines = LINES.map(([name]) => {
    const points = run.map((point, at) => `${x(at).toFixed(1)},${y(cost(point[name])).toFixed(1)}`);
    return svg(
      'g',
      { class: `line ${name}` },
      svg('polyline', { points: points.join(' ') }),
      run.length <= 60
        ? run.map((point, at) =>
            svg('circle', { cx: x(at), cy: y(cost(point[name])), r: 2.5 }, svg('title', {}, `step ${point.number}: ${tell(cost(point[name]))}`)),
          )
        : null,
    );
  });
  const labels = apart(LINES.map(([name, label]) => ({ name, y: y(cost(last[name])) + 4, text: `${label} ${tell(cost(last[name]))}` })));
  const ends = labels.map((label) => svg('text', { class: `end ${label.name}`, x: width - edge.right + 8, y: label.y }, label.text));
  const below = el(
    'ul',
    { className: 'ends-below' },
    labels.map((label) => el('li', { className: label.name }, label.text)),
  );
  const unit = prices ? 'cost of the run so far' : 'tokens of the run that were in no cache';
  const summary = LINES.map(([name, label]) => `${label}: ${tell(cost(last[name]))}`).join('; ');
  return el(
    'figure',
    { className: 'run' },
    el(
      'figcaption',
      {},
      unit,
      el('span', { className: 'muted' }, ` · step ${run[0].number} to ${last.number}${prices?.as_of ? ` · prices of ${prices.as_of}` : ''}`),
    ),
    svg(
      'svg',
      { viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': `${unit}; ${summary}` },
      svg('line', { class: 'axis', x1: edge.left, x2: width - edge.right, y1: y(0), y2: y(0) }),
      lines,
      isNarrow ? null : ends,
      stepBars(run, x),
    ),
    isNarrow ? below : null,
  );
}

/** Below the lines, what each step sent: in the cache, and not. */
function stepBars(run, x) {
  const most = Math.max(1, ...run.map((point) => point.step.cached_tokens + point.step.uncached_tokens));
  const wide = Math.max(1, Math.min(14, (x(run.length - 1) - x(0)) / Math.max(1, run.length) - 1));
  const high = EDGE.bottom - 8;
  return run.map((point, at) => {
    const cached = (point.step.cached_tokens / most) * high;
    const fresh = (point.step.uncached_tokens / most) * high;
    const left = x(at) - (run.length > 1 ? (wide * at) / (run.length - 1) : wide);
    const title = `step ${point.number}: ${grouped(point.step.cached_tokens)} in the cache, ${grouped(point.step.uncached_tokens)} not`;
    return svg(
      'g',
      { class: 'step-bar' },
      svg('title', {}, title),
      svg('rect', { class: 'cached', x: left, y: HEIGHT - cached, width: wide, height: cached }),
      svg('rect', { class: 'fresh', x: left, y: HEIGHT - cached - fresh, width: wide, height: fresh }),
    );
  });
}
