"use strict";
// Errors, with a code that never changes.

const { camel } = require("./names.cjs");

/** Why a call has no answer. */
class CupelError extends Error {
  /**
   * @param {string} message
   * @param {{ code?: string, path?: string, rule?: string, remedy?: string, details?: object, cause?: unknown }} [fields]
   */
  constructor(message, fields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code ?? "invalid-argument";
    this.path = fields.path;
    this.rule = fields.rule ?? message;
    this.remedy = fields.remedy;
    this.details = fields.details ?? {};
  }

  get name() {
    return "CupelError";
  }
}

/** Remedies of the engine, by their names here. */
const REMEDIES = {
  "each line is JSON of its own; give them one by one, as with --lines":
    "each line is a request of its own: give them one by one",
  "give the window in tokens, or a known model": "give maxTokens, or a model that is known",
  "repair it": "pass repair: true",
  "repair it, and drop what cannot be kept": "call repair(request, { drop: true })",
};

/** The options that errors are about, where the engine leaves it at their kind. */
const OPTIONS = {
  "unknown-policy": "policy",
  "unknown-model": "model",
  "unknown-tokenizer": "tokenizer",
  "unreadable-tokenizer": "tokenizer",
  "unmatched-pin": "pins",
  "invalid-vectors": "vectors",
  "invalid-renderings": "renderings",
};

/** Codes of errors that are about options: their paths are written as options are. */
const OF_OPTIONS = new Set(["invalid-argument", "invalid-budget", "invalid-options", "invalid_budget"]);

/** The error for one that the engine threw; others are returned as they are. */
function told(thrown) {
  let told;
  try {
    told = JSON.parse(thrown.message);
  } catch {
    return thrown;
  }
  if (typeof told?.code !== "string") return thrown;
  const { schema: _schema, code, rule, message, details, ...rest } = told;
  let { path, remedy } = told;
  delete rest.path;
  delete rest.remedy;
  if (path === undefined || path === null) path = OPTIONS[code];
  if (path !== undefined && OF_OPTIONS.has(code)) path = camel(path);
  remedy = REMEDIES[remedy] ?? remedy ?? undefined;
  let text = (path ? `${path}: ` : "") + rule + (remedy ? `; ${remedy}` : "");
  let broken = rule;
  if (code === "invalid-request" && rest.violations?.length > 0) {
    // The number of problems helps nobody: the first is named.
    const [first, ...others] = rest.violations;
    path = first.path || undefined;
    broken = first.text;
    remedy = first.remedy + (told.remedy in REMEDIES ? `; or ${remedy}` : "");
    const more = others.length > 0 ? ` (${others.length} more in details.violations)` : "";
    text = `${path ? `${path}: ` : ""}${broken}; ${remedy}${more}`;
  } else if (path === undefined && typeof message === "string" && !(told.remedy in REMEDIES)) {
    text = message;
  }
  return new CupelError(text, { code, path, rule: broken, remedy, details: { ...rest, ...details } });
}

/** Calls, and throws the engine's errors as the package's. */
function raising(call) {
  try {
    return call();
  } catch (error) {
    throw told(error);
  }
}

/** As `raising`, for a promise. */
async function raisingAsync(call) {
  try {
    return await call();
  } catch (error) {
    throw told(error);
  }
}

module.exports = { CupelError, told, raising, raisingAsync };
