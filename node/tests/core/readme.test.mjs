// The README runs: what a line of it prints is what stands behind it.
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map((found) => found[1]);

for (const [at, block] of blocks.entries()) {
  test(`example ${at + 1} of the README prints what it says`, async (context) => {
    const expected = [...block.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((found) => found[1]);
    const printed = [];
    const { format } = await import("node:util");
    context.mock.method(console, "log", (...values) => printed.push(format(...values)));
    const file = new URL(`example-${process.pid}-${at}.mjs`, import.meta.url);
    writeFileSync(file, block);
    try {
      await import(file);
    } finally {
      rmSync(file);
    }
    assert.deepEqual(printed, expected);
  });
}

test("there are examples", () => assert.ok(blocks.length >= 4));
