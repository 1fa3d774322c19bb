"use strict";
// The engine as WebAssembly, with the same functions and classes as the one for Node. It keeps nothing between two calls but what
// makes them faster: a session keeps its own state, and an engine is its settings.

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Every file of data that comes after the program. */
const FILES = ["o200k_base.merges", "cl100k_base.merges", "english.words"];

/** An instance of the program, and the data that it has. */
class Program {
  #module;
  #exports;
  #supplied = new Map();

  constructor(module) {
    this.#module = module;
  }

  /** Texts or bytes in, the answer out. */
  #call(name, parts) {
    this.#exports ??= new WebAssembly.Instance(this.#module, {}).exports;
    const { memory, input, output, length, [name]: ask } = this.#exports;
    const given = parts.map((part) => (typeof part === "string" ? encoder.encode(part) : part));
    try {
      let at = input(given.reduce((sum, part) => sum + part.length, 0));
      const lengths = given.map((part) => part.length);
      for (const part of given) {
        new Uint8Array(memory.buffer, at >>> 0, part.length).set(part);
        at += part.length;
      }
      const isAnswer = ask(...lengths.slice(0, -1));
      const answer = decoder.decode(new Uint8Array(memory.buffer, output() >>> 0, length() >>> 0));
      if (isAnswer) return answer;
      throw new Error(answer);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) this.#renew();
      throw error;
    }
  }

  /** Begins anew with the data that is there: what failed may have left anything behind, and memory never shrinks. */
  #renew() {
    const supplied = this.#supplied;
    this.#exports = undefined;
    this.#supplied = new Map();
    for (const [name, bytes] of supplied) this.supply(name, bytes);
  }

  ask(settings, question, request) {
    return this.#call("ask", [settings, question, request]);
  }

  supply(name, bytes) {
    this.#call("supply", [name, bytes]);
    this.#supplied.set(name, bytes);
  }

  /** The files that were missed so far. */
  missed() {
    const missed = this.#call("missed", [new Uint8Array(0)]);
    return missed === "" ? [] : missed.split("\n");
  }
}

/**
 * The functions and classes of the engine. `read` has the bytes of a file of data at once, `fetched` later; what neither has is
 * done without: counts are estimates then, and say so.
 *
 * @param {WebAssembly.Module} module
 * @param {{ read?: (name: string) => Uint8Array, fetched?: (name: string) => Promise<Uint8Array> }} data
 */
function bound(module, { read, fetched }) {
  const program = new Program(module);
  const given = new Set();

  /** Asks, and once more if data was missed that there is. */
  function ask(settings, question, request) {
    const answer = program.ask(settings, question, request);
    const missed = read ? program.missed().filter((name) => !given.has(name)) : [];
    if (missed.length === 0) return answer;
    for (const name of missed) {
      given.add(name);
      program.supply(name, read(name));
    }
    return ask(settings, question, request);
  }

  async function askAsync(settings, question, request) {
    const answer = ask(settings, question, request);
    const missed = fetched ? program.missed().filter((name) => !given.has(name)) : [];
    if (missed.length === 0) return answer;
    await load(missed);
    return askAsync(settings, question, request);
  }

  /** Fetches files of data before they are missed. */
  async function load(names = FILES) {
    await Promise.all(
      names.filter((name) => !given.has(name)).map(async (name) => {
        program.supply(name, read ? read(name) : await fetched(name));
        given.add(name);
      }),
    );
  }

  /** What was chosen: a selection of an engine or a step of a session. */
  class Chosen {
    constructor(text) {
      const { text: window, rewritten, state, ...answer } = JSON.parse(text);
      this.kept = answer.kept_messages;
      this.text = window;
      this.tokens = answer.summary.tokens_after;
      this.isRepaired = (answer.repairs ?? []).length > 0;
      const pairs = rewritten.map(([at, json]) => `[${at},${json}]`);
      this.rewritten = pairs.length > 0 ? `[${pairs.join(",")}]` : null;
      this.state = state;
      this.answer = () => JSON.stringify(answer);
    }
  }

  class Selection extends Chosen {
    constructor(settings, request, options, text) {
      super(text);
      const again = (more) => ask(settings, `{"options":${options},${more}}`, request);
      this.report = () => again(`"ask":"report"`);
      this.explain = (most) => again(`"ask":"explain","most_left_out":${most}`);
    }
  }

  class Engine {
    #settings;

    constructor(settings) {
      this.#settings = settings;
      this.policy = JSON.parse(ask(settings, `{"ask":"engine"}`, "[]")).policy;
    }

    select(request, options) {
      const answer = ask(this.#settings, `{"ask":"select","options":${options}}`, request);
      return new Selection(this.#settings, request, options, answer);
    }

    async selectAsync(request, options) {
      const answer = await askAsync(this.#settings, `{"ask":"select","options":${options}}`, request);
      return new Selection(this.#settings, request, options, answer);
    }

    ask(request, question) {
      return ask(this.#settings, question, request);
    }

    async askAsync(request, question) {
      return askAsync(this.#settings, question, request);
    }

    session(state, cacheLifetime, cacheMarks, resendShare) {
      const settings = {
        cache_lifetime: cacheLifetime ?? undefined,
        cache_marks: cacheMarks ? "write" : undefined,
        resend_share: resendShare ?? undefined,
      };
      return new Session(this.#settings, JSON.stringify(settings), state);
    }
  }

  class Session {
    #engine;
    #settings;
    #state;
    #proposed;

    constructor(engine, settings, state) {
      this.#engine = engine;
      this.#settings = settings;
      this.#state = state ?? null;
      // A state that cannot be gone on with is refused here, as by the engine for Node.
      if (state !== null) ask(engine, this.#question("resume", "{}", null), "[]");
    }

    #question(name, options, now) {
      const time = now === null ? "" : `,"now":${Math.max(0, Math.floor(now))}`;
      return `{"ask":"${name}","options":${options},"state":${this.#state},"session":${this.#settings}${time}}`;
    }

    #step(answer) {
      const step = new Chosen(answer);
      this.#proposed = JSON.stringify(step.state);
      return step;
    }

    next(request, options, now) {
      return this.#step(ask(this.#engine, this.#question("step", options, now), request));
    }

    async nextAsync(request, options, now) {
      return this.#step(await askAsync(this.#engine, this.#question("step", options, now), request));
    }

    accept() {
      if (this.#proposed === undefined) return false;
      this.#state = this.#proposed;
      this.#proposed = undefined;
      return true;
    }

    rollBack() {
      this.#proposed = undefined;
    }

    state() {
      return this.#state;
    }
  }

  const told = (question) => JSON.parse(program.ask("{}", JSON.stringify(question), "[]"));
  return {
    Engine,
    load,
    VERSION: told({ ask: "engine" }).version,
    handle: (text) => told({ ask: "handle", text }),
  };
}

module.exports = { bound, FILES };
