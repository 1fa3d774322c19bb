"use strict";
// The engine: a request and a budget in, the best request that fits out, and why.

const native = require("./native.cjs").load();
const { CupelError, raising, raisingAsync } = require("./errors.cjs");
const { explained, headline } = require("./explain.cjs");
const { snaked } = require("./names.cjs");
const { Request } = require("./request.cjs");
const { text } = require("./text.cjs");

/** The object of the engine behind one of this package. */
const NATIVE = Symbol("native");

/** Pins, where an index may count from the end of a list whose length is known. */
function pinned(pins, count) {
  const listed = Array.isArray(pins) ? pins : [pins];
  return listed.map((pin) => {
    if (typeof pin !== "number" || pin >= 0) return pin;
    if (count !== undefined && pin + count >= 0) return pin + count;
    throw new CupelError(`pins: there is no message ${pin}`, { code: "unmatched-pin", path: "pins" });
  });
}

/** Options of a call as the engine's JSON. */
function optionsText(options, count) {
  const named = snaked(options ?? {});
  if (named.pins !== undefined) named.pins = pinned(named.pins, count);
  if (typeof named.rules === "string") named.rules = [named.rules];
  return text(named);
}

/** The messages that fit, whoever chose them. */
class Window {
  #request;
  #messages;

  constructor(request, chosen) {
    this.#request = request;
    Object.defineProperty(this, NATIVE, { value: chosen });
    /** The indices of the messages that stay, in the request's own list. */
    this.kept = chosen.kept;
    /** The tokens of the window. */
    this.tokens = chosen.tokens;
  }

  /** The messages that stay: the very objects that were handed in, but for shortened ones. */
  get messages() {
    this.#messages ??= this.#request.kept(this[NATIVE]);
    return this.#messages;
  }

  /** The request with these messages, in the shape in which it was handed in. */
  get request() {
    return this.#request.like(this.messages, this[NATIVE].text, this.tools.length > 0);
  }

  /** The request as JSON; every message that stays is its original text. */
  get text() {
    return this[NATIVE].text;
  }

  /** Everything but texts, as the command writes it. */
  get answer() {
    return JSON.parse(this[NATIVE].answer());
  }

  /** Sizes before and after, and what they were measured with. */
  get summary() {
    return this.answer.summary;
  }

  /** Texts that are in the window shorter than they were. */
  get shortened() {
    return this.answer.shortened ?? [];
  }

  /** What became of each tool, if the request goes out with others or shorter ones; else nothing. */
  get tools() {
    return this.answer.tools ?? [];
  }

  [Symbol.iterator]() {
    return this.messages[Symbol.iterator]();
  }

  toString() {
    return headline(this.summary);
  }
}

/** The best request that fits, and why. */
class Selection extends Window {
  /** The report of the specification: every item with its score and reason. */
  get report() {
    return JSON.parse(this[NATIVE].report());
  }

  /** The window, what is not in it, and why, as data. */
  explanation(mostLeftOut = 0xffff_ffff) {
    return JSON.parse(raising(() => this[NATIVE].explain(mostLeftOut)));
  }

  /** The window, what is not in it, and why, as text. */
  explain(mostLeftOut = 20) {
    return explained(this.explanation(mostLeftOut));
  }
}

/** The window of a step of a session, and what it does to the prompt cache. */
class Step extends Window {
  /** The cache: what is read from it and what is written. */
  get session() {
    return this.answer.session;
  }
}

/** Fits requests into a window: made once, used for many requests. */
class Engine {
  constructor(settings = {}) {
    const named = snaked(settings);
    if (named.pins !== undefined) named.pins = pinned(named.pins);
    if (typeof named.rules === "string") named.rules = [named.rules];
    named.handles ??= true;
    const made = raising(() => new native.Engine(text(named)));
    Object.defineProperty(this, NATIVE, { value: made });
  }

  /** The name of the policy that it selects by. */
  get policy() {
    return this[NATIVE].policy;
  }

  /** The best request that fits. */
  select(request, options) {
    const read = new Request(request);
    const named = optionsText(options, read.messages?.length);
    return new Selection(read, raising(() => this[NATIVE].select(read.text, named)));
  }

  /** As `select`, on a thread of its own. */
  async selectAsync(request, options) {
    const read = new Request(request);
    const named = optionsText(options, read.messages?.length);
    return new Selection(read, await raisingAsync(() => this[NATIVE].selectAsync(read.text, named)));
  }

  #ask(request, ask, options, needs) {
    const read = request instanceof Request ? request : new Request(request);
    const named = JSON.parse(optionsText(options, read.messages?.length));
    const question = text({ ask, options: named, ...needs });
    return JSON.parse(raising(() => this[NATIVE].ask(read.text, question)));
  }

  /** The tokens of a request, part by part. */
  count(request, options) {
    return this.#ask(request, "count", options);
  }

  /** The rules of its provider that a request breaks. */
  validate(request) {
    return this.#ask(request, "validate");
  }

  /** The request, repaired as far as it can be, and what was done to it. */
  repair(request, { drop = false } = {}) {
    const read = new Request(request);
    const repaired = this.#ask(read, "repair", undefined, { drop });
    const kept = (read.messages ?? []).map((_, at) => at);
    const messages = read.kept({ kept, rewritten: undefined, isRepaired: repaired.repairs.length > 0, text: repaired.text });
    return { ...repaired, messages, request: read.like(messages, repaired.text) };
  }

  /** The whole text that a window has a shorter form of, by its handle; `null` if there is none. */
  original(request, handle) {
    return this.#ask(request, "original", undefined, { handle });
  }

  /** The windows of many budgets, from one ranking. */
  windows(request, budgets, options) {
    return this.#ask(request, "windows", options, { budgets });
  }

  /**
   * What each budget keeps, from what is pinned to everything.
   *
   * @param {any} request
   * @param {any} [options]
   */
  curve(request, { steps, from, to, ...options } = {}) {
    return this.#ask(request, "curve", options, { steps, from, to });
  }

  /** Messages that the last tokens of the budget buy. */
  marginal(request, slackTokens, options) {
    return this.#ask(request, "marginal", options, { slack_tokens: slackTokens });
  }

  /** The smallest budget that keeps a message. */
  minBudget(request, message, options) {
    return this.#ask(request, "min_budget", options, { message });
  }

  /** Differences between two or more policies. */
  compare(request, policies, options) {
    return this.#ask(request, "compare", options, { policies });
  }

  /** A list that depends on no request. */
  listed(name) {
    return this.#ask([], name);
  }

  /** Begins a session: windows that keep the prompt cache. */
  session(settings) {
    return new Session(this, settings);
  }
}

/** A conversation whose windows keep what the provider has in its cache. */
class Session {
  constructor(engine = new Engine(), settings = {}, state = null) {
    /** The engine that it selects with. */
    this.engine = engine;
    const { cacheLifetime, cacheMarks = false, resendShare } = settings;
    for (const [name, value] of Object.entries({ cacheLifetime, resendShare })) {
      if (value === undefined || (Number.isFinite(value) && value >= 0)) continue;
      throw new CupelError(`${name}: must be a number, 0 or more, got ${value}`, { path: name });
    }
    const written = state === null ? null : typeof state === "string" ? state : text(state);
    const made = raising(() => engine[NATIVE].session(written, cacheLifetime ?? null, cacheMarks, resendShare ?? null));
    Object.defineProperty(this, NATIVE, { value: made });
  }

  /**
   * Proposes the window of the next request, from the whole history so far.
   *
   * @param {any} request
   * @param {any} [options]
   */
  next(request, { now, ...options } = {}) {
    const read = new Request(request);
    const named = optionsText(options, read.messages?.length);
    return new Step(read, raising(() => this[NATIVE].next(read.text, named, seconds(now))));
  }

  /**
   * As `next`, on a thread of its own.
   *
   * @param {any} request
   * @param {any} [options]
   */
  async nextAsync(request, { now, ...options } = {}) {
    const read = new Request(request);
    const named = optionsText(options, read.messages?.length);
    return new Step(read, await raisingAsync(() => this[NATIVE].nextAsync(read.text, named, seconds(now))));
  }

  /** The provider has answered: the step that was proposed last counts. */
  accept() {
    return this[NATIVE].accept();
  }

  /** Forgets the step that was proposed last, as the next one does anyway. */
  rollBack() {
    this[NATIVE].rollBack();
  }

  /** The accepted steps, without any text; `null` if there are none. */
  toJSON() {
    const state = this[NATIVE].state();
    return state === null ? null : JSON.parse(state);
  }

  /** Goes on with a session that was written down. */
  static fromJSON(state, engine, settings) {
    return new Session(engine, settings, state);
  }
}

/** A time as seconds since 1970. */
function seconds(now) {
  if (now === undefined || now === null) return null;
  return now instanceof Date ? Math.floor(now.getTime() / 1000) : Math.floor(now);
}

module.exports = { Engine, Session, Selection, Step, native };
