"use strict";
// Every question as one call, with an engine that is made for it and kept.

const { Engine, Session } = require("./engine.cjs");
const { CupelError } = require("./errors.cjs");

/** The settings of an engine that no call may change. */
const OF_ENGINE = [
  "policy", "tokenizer", "superseded", "repair", "keepCaps", "alternate", "wholeTurns", "handles", "format",
];

const MOST = 64;
const known = new Map();

/** An engine for these settings; one that was made is used again. */
function engineFor(settings) {
  const key = JSON.stringify(settings);
  let engine = known.get(key);
  if (engine === undefined) {
    engine = new Engine(settings);
    if (known.size >= MOST) known.delete(known.keys().next().value);
    known.set(key, engine);
  }
  return engine;
}

/** Options as those of an engine and those of a call. */
function split(options = {}) {
  const call = { ...options };
  const settings = {};
  for (const name of OF_ENGINE) {
    if (call[name] !== undefined) settings[name] = call[name];
    delete call[name];
  }
  return [engineFor(settings), call];
}

/** The session of a call, which brings its engine. */
function ofSession({ session, ...options }) {
  if (!(session instanceof Session)) {
    throw new CupelError("session: must be a Session", { path: "session", remedy: "make one with new Session(engine)" });
  }
  const name = OF_ENGINE.find((name) => options[name] !== undefined);
  if (name === undefined) return [session, options];
  throw new CupelError(`${name}: the engine of the session has its own; set it there`, { path: name });
}

/**
 * The best request that fits: messages, or a whole request with its tools and system prompt.
 *
 * @param {any} request
 * @param {any} [options]
 */
function select(request, options = {}) {
  if (options.session !== undefined) {
    const [session, rest] = ofSession(options);
    return session.next(request, rest);
  }
  const [engine, call] = split(options);
  return engine.select(request, call);
}

/**
 * As `select`, on a thread of its own, so that the event loop goes on.
 *
 * @param {any} request
 * @param {any} [options]
 */
async function selectAsync(request, options = {}) {
  if (options.session !== undefined) {
    const [session, rest] = ofSession(options);
    return session.nextAsync(request, rest);
  }
  const [engine, call] = split(options);
  return engine.selectAsync(request, call);
}

/** The tokens of a request, part by part. */
function count(request, options) {
  const [engine, call] = split(options);
  return engine.count(request, call);
}

/** The rules of its provider that a request breaks. */
function validate(request, options) {
  return split(options)[0].validate(request);
}

/**
 * The request, repaired as far as it can be, and what was done to it.
 *
 * @param {any} request
 * @param {any} [options]
 */
function repair(request, { drop, ...options } = {}) {
  return split(options)[0].repair(request, { drop });
}

/**
 * What other budgets would keep.
 *
 * @param {any} request
 * @param {any} [options]
 */
function simulate(request, { budgets, message, slackTokens, steps, from, to, ...options } = {}) {
  const asked = Object.entries({ budgets, message, slackTokens }).filter(([, value]) => value !== undefined);
  if (asked.length > 1) throw new CupelError("give one of budgets, message and slackTokens", { path: asked[1][0] });
  const [engine, call] = split(options);
  if (budgets !== undefined) return engine.windows(request, budgets, call);
  if (message !== undefined) return engine.minBudget(request, message, call);
  if (slackTokens !== undefined) return engine.marginal(request, slackTokens, call);
  return engine.curve(request, { steps, from, to, ...call });
}

/** Differences between two or more policies. */
function compare(request, policies, options) {
  const [engine, call] = split(options);
  return engine.compare(request, policies, call);
}

/** The policies that are known by name, the default first. */
const policies = () => engineFor({}).listed("policies").policies;

/** The models that are known, with tokenizer, window and prices. */
const models = () => engineFor({}).listed("models").models;

module.exports = { select, selectAsync, count, validate, repair, simulate, compare, policies, models };
