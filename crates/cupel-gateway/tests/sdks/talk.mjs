// Asks by the AI SDK, streaming and not, with tools: node talk.mjs URL.

import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false;
const url = process.argv[2];
const words = 'Hello from the upstream.';
const told = (at) => `Lighthouse ${at} has ${at * 7} steps, a keeper, a lamp and a long story. `.repeat(3);
const look = tool({
  description: 'Looks.',
  inputSchema: z.object({ at: z.string() }),
  execute: async () => told(99),
});

function history(rounds) {
  const messages = [];
  for (let at = 0; at < rounds; at += 1) {
    const call = { type: 'tool-call', toolCallId: `c${at}`, toolName: 'look', input: { at: `${at}` } };
    const output = { type: 'text', value: told(at) };
    messages.push(
      { role: 'user', content: `How many steps has ${at}?` },
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: `c${at}`, toolName: 'look', output }] },
      { role: 'assistant', content: `${at * 7}.` },
    );
  }
  messages.push({ role: 'user', content: 'CALL look, and tell me which has the most.' });
  return messages;
}

const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'k' });
const models = {
  chat: openai.chat('local'),
  responses: openai.responses('local'),
  anthropic: createAnthropic({ baseURL: `${url}/v1`, apiKey: 'k' })('local'),
  google: createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: 'k' })('local'),
};

for (const [name, model] of Object.entries(models)) {
  for (const rounds of [1, 30]) {
    const how = { model, tools: { look }, stopWhen: stepCountIs(3), messages: history(rounds), maxRetries: 0 };
    const answer = await generateText(how);
    assert.equal(answer.text, words, name);
    assert.equal(answer.steps.length, 2, `${name}: a call and an answer`);
    const dropped = Number(answer.steps[0].response.headers['x-cupel-dropped']);
    assert.equal(dropped > 0, rounds > 9, `${name}: ${dropped}`);
    const stream = streamText(how);
    let text = '';
    for await (const part of stream.textStream) text += part;
    assert.equal(text, words, name);
  }
}
console.log('ai with openai, anthropic and google: accepted every answer');
