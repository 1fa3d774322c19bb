// The windows of all budgets, made of what changes from one to the next.

/** Number of changes between two windows that are kept as they are. */
const APART = 64;

/** In a window, a part is out (-1), whole (0), or in the form n - 1. */
export class Windows {
  constructor(table, parts) {
    this.table = table;
    this.parts = parts;
    this.snapshots = [];
    this.allSpans = null;
    const state = new Int16Array(parts.length).fill(-1);
    for (let at = 0; at < table.at.length; at += 1) {
      this.apply(state, at);
      if (at % APART === 0) this.snapshots.push(state.slice());
    }
  }

  get lowest() {
    return this.table.at[0];
  }

  get highest() {
    return this.table.at.at(-1);
  }

  apply(state, at) {
    for (const position of this.table.left[at]) state[position] = -1;
    for (const entry of this.table.joined[at]) {
      if (typeof entry === 'number') state[entry] = 0;
      else state[entry[0]] = entry[1] + 1;
    }
  }

  /** The number of the last change at or below a size. */
  indexAt(size) {
    let low = 0;
    let high = this.table.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.table.at[middle] <= size) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** A size whose window is known: where not all are, one of those that are. */
  known(size) {
    const inside = Math.min(Math.max(Math.round(size), this.lowest), this.highest);
    return this.table.is_exact ? inside : this.table.at[this.indexAt(inside)];
  }

  /** The window of a size: the state of each part, what it costs, and the room that it has. */
  at(size) {
    const index = this.indexAt(size);
    const base = Math.floor(index / APART);
    const state = this.snapshots[base].slice();
    for (let at = base * APART + 1; at <= index; at += 1) this.apply(state, at);
    return { state, tokens: this.table.tokens[index], room: this.room(size, index), order: this.order(state, index) };
  }

  /** Tokens that a size leaves when the reserve is taken off. */
  room(size, index) {
    const { at, room } = this.table;
    const ahead = index + 1;
    if (ahead >= at.length) return room[index] + Math.max(0, size - at[index]);
    const share = (size - at[index]) / (at[ahead] - at[index]);
    return Math.floor(room[index] + share * (room[ahead] - room[index]));
  }

  order(state, index) {
    const placed = this.table.order?.[index];
    if (placed?.length) return placed;
    const kept = [];
    state.forEach((form, position) => {
      if (form >= 0) kept.push(position);
    });
    return kept;
  }

  /** The next size, up or down, at which the window is another one. */
  next(size, direction) {
    const { at } = this.table;
    const index = this.indexAt(size);
    if (direction > 0) return at[Math.min(index + 1, at.length - 1)];
    return at[index] < size ? at[index] : at[Math.max(index - 1, 0)];
  }

  /** For each part, the sizes from which and up to which it is in. */
  get spans() {
    if (this.allSpans) return this.allSpans;
    const spans = this.parts.map(() => []);
    const { at, joined, left } = this.table;
    for (let index = 0; index < at.length; index += 1) {
      for (const position of left[index]) spans[position].at(-1)[1] = at[index];
      for (const entry of joined[index]) {
        const own = spans[typeof entry === 'number' ? entry : entry[0]];
        if (own.length === 0 || own.at(-1)[1] !== null) own.push([at[index], null]);
      }
    }
    this.allSpans = spans;
    return spans;
  }

  /** The share of all scores that each window keeps, from 0 to 1. */
  worth() {
    const worthOf = (position) => {
      const { pinned, score } = this.parts[position];
      return pinned ? 1 : Math.max(0, score ?? 0);
    };
    const all = this.parts.reduce((sum, _, position) => sum + worthOf(position), 0);
    const isIn = new Uint8Array(this.parts.length);
    let sum = 0;
    return this.table.at.map((_, index) => {
      for (const position of this.table.left[index]) {
        if (isIn[position]) sum -= worthOf(position);
        isIn[position] = 0;
      }
      for (const entry of this.table.joined[index]) {
        const position = typeof entry === 'number' ? entry : entry[0];
        if (!isIn[position]) sum += worthOf(position);
        isIn[position] = 1;
      }
      return all > 0 ? Math.min(1, sum / all) : 0;
    });
  }
}

/** Tokens of a part in a state. */
export function tokensIn(part, form) {
  if (form < 0) return 0;
  return form === 0 ? part.tokens : (part.forms?.[form - 1]?.tokens ?? part.tokens);
}

/** Number of messages of a window. */
export function messagesIn(parts, state) {
  let count = 0;
  state.forEach((form, position) => {
    if (form >= 0) count += parts[position].messages.length;
  });
  return count;
}

/** The window that a step sent, as a state. */
export function sentWindow(view) {
  const state = new Int16Array(view.parts.length).fill(-1);
  const order = [];
  for (const entry of view.step.sent) {
    const [position, form] = typeof entry === 'number' ? [entry, 0] : [entry[0], entry[1] + 1];
    state[position] = form;
    order.push(position);
  }
  return { state, tokens: view.step.tokens, order };
}

/** Tokens of a window that hold nothing, given its size, what is kept for the answer, the room and what it holds: free, or set aside. */
export function restOf(size, reserve, room, tokens) {
  const margin = Math.max(0, size - reserve - room);
  const free = Math.max(0, size - reserve - margin - tokens);
  return [
    { tokens: free, fill: 'free', name: 'free' },
    { tokens: margin, fill: 'margin', name: 'kept free, as counts may be off' },
    { tokens: reserve, fill: 'reserve', name: 'kept free for the answer' },
  ];
}
