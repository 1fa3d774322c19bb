"use strict";
// Values as the JSON text that the engine reads.

const { CupelError } = require("./errors.cjs");

/** True if there are bytes in a value, which JSON.stringify would write as a list of numbers. */
function hasBytes(value, depth) {
  if (typeof value !== "object" || value === null || depth > 40) return false;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return true;
  if (Array.isArray(value)) {
    for (const one of value) if (typeof one === "object" && hasBytes(one, depth + 1)) return true;
    return false;
  }
  for (const name in value) {
    const one = value[name];
    if (typeof one === "object" && hasBytes(one, depth + 1)) return true;
  }
  return false;
}

/** Bytes in Base64, as providers want them. */
function base64(value) {
  const [buffer, from, length] = value instanceof ArrayBuffer ? [value] : [value.buffer, value.byteOffset, value.byteLength];
  if (typeof Buffer !== "undefined") return Buffer.from(buffer, from, length).toString("base64");
  const bytes = new Uint8Array(buffer, from, length);
  let text = "";
  // A call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text);
}

/** A replacer for JSON.stringify. `this` has the value as it is, before its `toJSON`. */
function withBytes(name, value) {
  const own = this[name];
  return ArrayBuffer.isView(own) || own instanceof ArrayBuffer ? base64(own) : value;
}

/** A value as JSON. */
function text(value) {
  let written;
  try {
    written = JSON.stringify(value, hasBytes(value, 0) ? withBytes : undefined);
  } catch (error) {
    throw new CupelError(`the request cannot be written as JSON: ${error.message}`, {
      code: "unsupported-type",
      cause: error,
    });
  }
  if (written === undefined) {
    const rule = `a request is a list of messages, an object or JSON, got ${typeof value}`;
    throw new CupelError(rule, { code: "unsupported-type", remedy: "give messages or a request" });
  }
  return written;
}

module.exports = { text };
