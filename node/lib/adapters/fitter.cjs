"use strict";
// What adapters share: an engine, and the sessions of conversations that have an id.

const { Engine, Session, native } = require("../engine.cjs");
const { CupelError } = require("../errors.cjs");
const { text } = require("../text.cjs");

/** Conversations that are remembered. The longest unused are forgotten, which costs cache alone. */
const MOST = 1_024;

/** An engine from the options of an adapter, or the one among them. */
function engineOf(engine, settings) {
  if (engine === undefined) return new Engine(settings);
  if (!(engine instanceof Engine)) {
    throw new CupelError("engine: must be an Engine", { path: "engine", remedy: "make one with new Engine(settings)" });
  }
  const name = Object.keys(settings).find((name) => name !== "format" && settings[name] !== undefined);
  if (name === undefined) return engine;
  throw new CupelError(`${name}: the engine that was given has its own; set it there`, { path: name });
}

/**
 * Fits the requests of a framework into a window, each conversation in a session of its own.
 *
 * A framework does not tell whether the provider has answered. But the history grows when it has: the last step counts as
 * soon as a longer history comes, and one that is sent again spends nothing.
 *
 * An id may be shared, by the agents of a run or by runs side by side. Their histories begin differently, and so they are
 * sessions of their own.
 */
class Fitter {
  #engine;
  #sessions;
  #onSelection;
  #conversations = new Map();

  /**
   * @param {import("./options.cjs").WindowOptions} [options]
   * @param {string} [format]
   */
  constructor({ engine, sessions = true, onSelection, ...settings } = {}, format) {
    if (onSelection !== undefined && typeof onSelection !== "function") {
      throw new CupelError(`onSelection: must be a function, got ${typeof onSelection}`, { path: "onSelection" });
    }
    this.#engine = engineOf(engine, { ...settings, format });
    this.#sessions = sessions;
    this.#onSelection = onSelection;
  }

  /**
   * The window of a request; in a session if its conversation has an id. `window` is how much fits by the framework's own
   * word, where neither the engine nor its table of models says it.
   *
   * @param {object} request
   * @param {readonly any[]} messages
   * @param {{ id?: string, window?: number }} [known]
   */
  async window(request, messages, { id, window } = {}) {
    let fitted;
    try {
      fitted = await this.#fitted(request, messages, id, {});
    } catch (error) {
      if (error.code !== "no-budget" || !window) throw error;
      fitted = await this.#fitted(request, messages, id, { maxTokens: window });
    }
    await this.#onSelection?.(fitted);
    return fitted;
  }

  #fitted(request, messages, id, options) {
    if (id === undefined || id === null || !this.#sessions) return this.#engine.selectAsync(request, options);
    const conversation = this.#conversation(JSON.stringify([id, ...beginning(messages)]));
    // Requests of one conversation wait for each other; one that failed keeps nobody waiting.
    const step = conversation.last.then(async () => {
      if (messages.length > conversation.seen) conversation.session.accept();
      const step = await conversation.session.nextAsync(request, { ...options, now: new Date() });
      conversation.seen = messages.length;
      return step;
    });
    conversation.last = step.catch(() => {});
    return step;
  }

  #conversation(key) {
    const known = this.#conversations.get(key);
    const conversation = known ?? { session: new Session(this.#engine), seen: -1, last: Promise.resolve() };
    this.#conversations.delete(key);
    this.#conversations.set(key, conversation);
    if (this.#conversations.size > MOST) this.#conversations.delete(this.#conversations.keys().next().value);
    return conversation;
  }
}

/** What a conversation begins with, up to the first message that is not the system's. */
function beginning(messages) {
  const handles = [];
  for (const message of messages) {
    handles.push(native.handle(text(message)));
    if (message.role !== "system" && message.role !== "developer") break;
  }
  return handles;
}

/** Whether two lists have the same objects. */
const isSame = (one, other) => one.length === other.length && one.every((message, at) => message === other[at]);

/** An object without the fields that are undefined. */
const defined = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

module.exports = { Fitter, defined, isSame };
