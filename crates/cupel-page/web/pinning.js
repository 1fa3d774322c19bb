// Keeping a part in any case: in its conversation by a button, or by what can be copied elsewhere.
import { el, put } from './dom.js';

/** `ask` asks the gateway: `(method, messages) => { messages }`; absent where there is none. */
export class Pinning {
  constructor(ask) {
    this.ask = ask;
    this.kept = null;
  }

  /** Pins that a part offers. Fixed parts and the last turn are always in. */
  of(part) {
    if (part.messages.length === 0) return null;
    const node = el('section', { className: 'pinning' });
    this.show(node, part);
    if (this.ask && this.kept === null) {
      this.kept = new Set();
      this.ask('GET').then(
        ({ messages }) => {
          this.kept = new Set(messages);
          this.show(node, part);
        },
        () => {},
      );
    }
    return node;
  }

  show(node, part, problem) {
    const isKept = this.kept !== null && part.messages.some((at) => this.kept.has(at));
    const button = this.ask
      ? el(
          'button',
          { type: 'button', className: 'pin', 'aria-pressed': String(isKept), onclick: () => this.turn(node, part, !isKept) },
          isKept ? 'Kept in this conversation' : 'Keep in this conversation',
        )
      : null;
    const told = problem ?? (isKept ? 'It stays from the next request on, whatever it costs.' : null);
    put(
      node,
      button,
      told ? el('p', { className: 'muted small', role: 'status' }, told) : null,
      el(
        'details',
        {},
        el('summary', {}, 'Keep it by other means'),
        this.ask ? copied('a header of the client', `x-cupel-pin: ${part.messages[0]}`) : null,
        copied('a flag of cupel', `--pin ${part.messages[0]}`),
      ),
    );
  }

  async turn(node, part, isKept) {
    try {
      const { messages } = await this.ask(isKept ? 'PUT' : 'DELETE', part.messages);
      this.kept = new Set(messages);
      this.show(node, part);
    } catch (error) {
      this.show(node, part, error.message);
    }
    node.querySelector('button')?.focus();
  }
}

/** A line to copy. */
function copied(name, text) {
  const button = el(
    'button',
    {
      type: 'button',
      className: 'quiet',
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          button.textContent = 'copied';
        } catch {
          getSelection()?.selectAllChildren(code);
          button.textContent = 'selected';
        }
      },
    },
    'copy',
  );
  const code = el('code', {}, text);
  return el('p', { className: 'small' }, `${name}: `, code, ' ', button);
}
