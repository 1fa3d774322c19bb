"use strict";
// A request as its caller has it: its own messages, and the shape around them.

const { text } = require("./text.cjs");

/** Where formats keep their messages, in the order in which the engine looks. */
const LISTS = ["contents", "input", "items", "messages", "prompt"];

/** Request of the caller, as it is now: a caller may go on with its list. */
class Request {
  constructor(given) {
    this.given = given;
    this.name = undefined;
    this.messages = undefined;
    if (typeof given === "string") {
      this.text = given.startsWith("\ufeff") ? given.slice(1) : given;
    } else {
      if (given instanceof Uint8Array) this.text = new TextDecoder().decode(given);
      else if (Array.isArray(given)) this.messages = [...given];
      else if (typeof given === "object" && given !== null) {
        this.name = LISTS.find((name) => Array.isArray(given[name]));
        if (this.name !== undefined) {
          this.messages = [...given[this.name]];
          this.fields = { ...given };
        }
      }
      this.text ??= text(given);
    }
  }

  /** The messages that stay: the caller's own objects, but for those that are shortened or repaired. */
  kept({ kept, rewritten, isRepaired, text }) {
    const own = this.messages;
    if (own === undefined) return /^\s*[[{]/.test(text) ? listed(JSON.parse(text)) : [];
    if (isRepaired) return matched(own, listed(JSON.parse(text)));
    if (!rewritten) return kept.map((at) => own[at]);
    const shorter = new Map(JSON.parse(rewritten));
    return kept.map((at) => (shorter.has(at) ? merged(own[at], shorter.get(at)) : own[at]));
  }

  /** The request with these messages, in the shape in which it was given; with the tools of `text`, if they are others. */
  like(messages, text, hasOtherTools = false) {
    if (typeof this.given === "string") return text;
    if (this.given instanceof Uint8Array) return new TextEncoder().encode(text);
    if (this.messages === undefined) return JSON.parse(text);
    if (this.name === undefined) return messages;
    const fields = { ...this.fields };
    if (hasOtherTools) {
      const changed = JSON.parse(text);
      for (const name of Object.keys(fields)) {
        if (name !== this.name && name in changed) fields[name] = merged(fields[name], changed[name]);
      }
    }
    return { ...fields, [this.name]: messages };
  }
}

function listed(value) {
  if (Array.isArray(value)) return value;
  for (const name of LISTS) if (Array.isArray(value[name])) return value[name];
  return [value];
}

/** The caller's own object for each message that was not changed, in order. */
function matched(own, repaired) {
  const written = own.map((message) => text(message));
  let at = 0;
  return repaired.map((message) => {
    const found = written.indexOf(JSON.stringify(message), at);
    if (found < 0) return message;
    at = found + 1;
    return own[found];
  });
}

/** A value like the caller's with what changed. What did not is the caller's own, at any depth. */
function merged(own, changed) {
  if (typeof own !== "object" || own === null || typeof changed !== "object" || changed === null) return changed;
  if (text(own) === JSON.stringify(changed)) return own;
  if (Array.isArray(own) || Array.isArray(changed)) {
    const isSame = Array.isArray(own) && Array.isArray(changed) && own.length === changed.length;
    return isSame ? own.map((one, at) => merged(one, changed[at])) : changed;
  }
  if (typeof own.toJSON === "function") return reworded(own, changed);
  const copy = Object.assign(Object.create(Object.getPrototypeOf(own)), own);
  for (const name of Object.keys(copy)) if (!(name in changed) && copy[name] !== undefined) delete copy[name];
  for (const name of Object.keys(changed)) copy[name] = merged(own[name], changed[name]);
  return copy;
}

/** A message of LangChain with another content; what writes itself in another way is as it was written. */
function reworded(own, changed) {
  if (changed.lc !== 1 || changed.kwargs?.content === undefined) return changed;
  const content = merged(own.content, changed.kwargs.content);
  const lc_kwargs = { ...own.lc_kwargs, content };
  return Object.assign(Object.create(Object.getPrototypeOf(own)), own, { content, lc_kwargs });
}

module.exports = { Request };
