// What a step of a session did to the prompt cache, and what the run costs.
import { el } from './dom.js';
import { runChart } from './chart.js';
import { counted, grouped, percent } from './words.js';

const BEGINNINGS = {
  'first-step': 'the first step',
  'other-conversation': 'another conversation than before',
  expired: 'the provider has forgotten what it had',
};

function account(step) {
  const begin = step.new_account;
  if (!begin) return null;
  return el('p', { className: 'muted small' }, `The account begins anew: ${BEGINNINGS[begin] ?? begin.replaceAll('-', ' ')}.`);
}

/** Why something is sent again. */
export function againReason(again) {
  return again.times_its_price === undefined || again.times_its_price === null
    ? 'sent again: it must be in'
    : `sent again: worth ${again.times_its_price.toFixed(1)} times its price`;
}

export function stepPanel(view, show) {
  const { step } = view;
  const all = Math.max(1, step.cached_tokens + step.uncached_tokens);
  const figure = (value, label, hint) => el('div', { title: hint }, el('b', {}, value), el('span', {}, label));
  const link = (count, text, filter) =>
    count === 0
      ? figure('0', text)
      : el('button', { type: 'button', className: 'figure', onclick: () => show(filter) }, el('b', {}, grouped(count)), el('span', {}, text));
  return el(
    'section',
    { className: 'step', 'aria-label': 'The prompt cache' },
    el(
      'div',
      { className: 'step-figures' },
      figure(`step ${grouped(step.number)}`, 'of its session'),
      figure(percent(step.cached_tokens / all), 'in the cache', `${counted(step.cached_tokens, 'token')} of an unchanged beginning`),
      figure(grouped(step.uncached_tokens), 'tokens not in the cache'),
      figure(grouped(step.arrived_tokens), 'arrived since the step before'),
      link(step.cut.length, 'cut off', 'cut'),
      link(step.again.length, 'sent again', 'again'),
      figure(grouped(Math.max(0, step.credit)), 'tokens may be sent again', 'A share of all that arrived'),
    ),
    account(step),
    runChart(step),
  );
}
