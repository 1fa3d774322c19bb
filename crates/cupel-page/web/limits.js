// The windows that upstreams told a gateway, and a way to forget them.
import { el, put } from './dom.js';
import { forgetLimits, learntLimits } from './api.js';
import { counted, grouped } from './words.js';

/** Least time between two questions, in milliseconds, however many requests come. */
const PATIENCE = 2000;

export class LearntLimits {
  constructor() {
    this.node = el('section', { className: 'notice limits', 'aria-label': 'Learnt limits' });
    this.node.hidden = true;
    this.timer = null;
  }

  /** Asks soon for what is remembered; once, however often it is told to. */
  refresh() {
    this.timer ??= setTimeout(
      () => {
        this.timer = null;
        this.ask(learntLimits());
      },
      this.asked ? PATIENCE : 0,
    );
    this.asked = true;
  }

  async ask(answer) {
    try {
      this.show((await answer).limits);
    } catch (error) {
      this.node.hidden = false;
      put(this.node, el('p', { role: 'status' }, `Learnt limits are not known: ${error.message}`));
    }
  }

  show(limits) {
    this.node.hidden = limits.length === 0;
    const rows = limits.map((limit) =>
      el(
        'li',
        {},
        el('b', {}, limit.model ?? 'any model'),
        ` at ${limit.upstream}, keys ${limit.keys}: `,
        `${grouped(limit.tokens)} tokens${limit.counts_answer ? ' with the answer' : ''}, for ${counted(Math.ceil(limit.seconds_left / 60), 'minute')} more`,
      ),
    );
    put(
      this.node,
      el(
        'p',
        {},
        `${counted(limits.length, 'window')} told by upstreams `,
        el('button', { type: 'button', className: 'choice forget', onclick: () => this.ask(forgetLimits()) }, 'Forget'),
      ),
      el('ul', {}, rows),
    );
  }
}
