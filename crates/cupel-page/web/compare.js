// Another policy beside the one that chose.
import { el, put } from './dom.js';
import { Windows, messagesIn } from './windows.js';
import { counted, grouped } from './words.js';

export class Compare {
  /** `ask(policy)` fetches a view that has the policy beside it; absent where there is no server. */
  constructor({ view, ask, change }) {
    this.view = view;
    this.ask = ask;
    this.change = change;
    this.windows = new Map(view.beside?.map(({ policy, windows }) => [policy, new Windows(windows, view.parts)]) ?? []);
    this.name = '';
    const names = new Set(this.windows.keys());
    if (ask) for (const { name } of view.policies) if (name !== view.policy) names.add(name);
    this.select = el(
      'select',
      { id: 'beside' },
      el('option', { value: '' }, 'nothing'),
      [...names].map((name) => el('option', { value: name }, name)),
    );
    this.select.addEventListener('change', () => this.choose(this.select.value));
    this.told = el('p', { className: 'compared', 'aria-live': 'polite' });
    this.node = names.size === 0 ? null : el('label', { className: 'beside', for: 'beside' }, el('span', {}, 'Compare with'), this.select);
  }

  get current() {
    return this.windows.get(this.name);
  }

  async choose(name) {
    if (name && !this.windows.has(name)) {
      put(this.told, `asking for ${name} …`);
      try {
        const view = await this.ask(name);
        const found = view.beside?.find(({ policy }) => policy === name);
        if (!found) throw new Error(`the server sent no windows of ${name}`);
        this.windows.set(name, new Windows(found.windows, this.view.parts));
      } catch (error) {
        put(this.told, `${name} cannot be compared with: ${error.message}`);
        this.select.value = this.name;
        return;
      }
    }
    this.name = name;
    this.select.value = name;
    this.change();
  }

  /** The other window of a size, and which parts are in one of the two only. */
  at(size, state) {
    const other = this.current;
    if (!other) {
      put(this.told);
      return null;
    }
    const holds = size >= other.lowest;
    const window = holds ? other.at(size) : { state: new Int16Array(state.length).fill(-1), tokens: 0, order: [] };
    let differ = 0;
    state.forEach((form, position) => {
      if (form >= 0 !== window.state[position] >= 0) differ += 1;
    });
    const { parts, policy } = this.view;
    put(
      this.told,
      el('b', {}, this.name),
      ` keeps ${counted(messagesIn(parts, window.state), 'message')} in ${grouped(window.tokens)} tokens; `,
      differ === 0 ? 'the same as ' : `${counted(differ, 'part')} ${differ === 1 ? 'differs' : 'differ'} from `,
      el('b', {}, policy),
      '.',
    );
    return { ...window, differ, windows: other, name: this.name };
  }
}
