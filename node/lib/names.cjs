"use strict";
// Names of options: JavaScript has them in camel case, the engine in snake case.

/** `max_tokens` as `maxTokens`. */
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** `maxTokens` as `max_tokens`. */
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** An object of options by the engine's names; what is undefined is left out. */
function snaked(options) {
  const named = {};
  for (const [name, value] of Object.entries(options)) if (value !== undefined) named[snake(name)] = value;
  return named;
}

module.exports = { camel, snake, snaked };
