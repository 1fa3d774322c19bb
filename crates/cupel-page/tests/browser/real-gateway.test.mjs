// The page of the real gateway: requests go through it to an upstream of ours.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { cupel, environment, headline, launch, open, root } from './support.mjs';
import { histories } from './session.mjs';

const STEPS = 5;
let browser;
let upstream;
let child;
let page;

let sent = '';

function answer(request, response) {
  sent = '';
  request.setEncoding('utf8').on('data', (piece) => {
    sent += piece;
  });
  request.on('end', () => {
    const message = { role: 'assistant', content: 'Done.' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    );
  });
}

before(async () => {
  browser = await launch();
  upstream = createServer(answer);
  await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const target = `http://127.0.0.1:${upstream.address().port}`;
  const flags = ['gateway', '--upstream', target, '--listen', '127.0.0.1:0', '--max', '2000', '--tokenizer', 'estimate', '--log', 'off'];
  child = spawn(cupel, flags, { cwd: root, env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  page = await new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /page at (\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
  });
});

after(async () => {
  child?.kill();
  upstream?.closeAllConnections();
  upstream?.close();
  await browser?.close();
});

async function ask(body) {
  const url = new URL('/v1/chat/completions', page);
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer none' }, body });
  assert.equal(response.status, 200);
  await response.json();
}

test('requests through a gateway are listed, opened and compared', async () => {
  const { page: shown, complaints, close } = await open(browser, page);
  await shown.waitForSelector('.live[data-state=live]');
  const requests = histories('coding-agent').slice(-STEPS);
  for (const body of requests) await ask(body);
  await shown.waitForFunction((count) => document.querySelectorAll('.requests .row').length === count, STEPS);
  await shown.waitForFunction(() => document.querySelectorAll('.requests .status.fitted').length > 0);
  await shown.keyboard.press('j');
  await shown.keyboard.press('Enter');
  await shown.waitForSelector('.request h1');
  const { kept, of } = await headline(shown);
  assert.equal(of, JSON.parse(requests.at(-1)).messages.length);
  assert.ok(kept > 1 && kept < of);
  assert.equal(await shown.locator('.run .line.sent circle').count(), STEPS, 'a point for each step');
  assert.ok(await shown.locator('.row .reason').first().textContent());
  await shown.selectOption('#beside', 'chat');
  await shown.waitForFunction(() => /keeps/.test(document.querySelector('.compared').textContent));
  await shown.locator('#budget').press('End');
  assert.equal((await headline(shown)).kept, of);
  assert.deepEqual([complaints, await shown.evaluate(() => window.refused)], [[], []]);
  await close();
});

test('a message that the button keeps is in the next request of its conversation', async () => {
  const { page: shown, complaints, close } = await open(browser, page);
  const requests = histories('coding-agent').slice(-STEPS);
  await shown.waitForSelector('.requests .thread');
  assert.equal(await shown.locator('.requests .caller').count(), 0, 'there is one agent alone');
  await shown.keyboard.press('j');
  await shown.keyboard.press('Enter');
  await shown.waitForSelector('.request h1');
  await shown.getByRole('button', { name: /^Left out/ }).click();
  await shown.keyboard.press('j');
  const button = shown.locator('.pinning .pin');
  assert.equal(await button.getAttribute('aria-pressed'), 'false');
  await shown.locator('.pinning summary').click();
  const [header, flag] = await shown.locator('.pinning code').allTextContents();
  const at = Number(/^x-cupel-pin: (\d+)$/.exec(header)[1]);
  assert.equal(flag, `--pin ${at}`);
  const { content } = JSON.parse(requests.at(-1)).messages[at];
  const has = () => JSON.parse(sent).messages.some((message) => message.content === content);
  await ask(requests.at(-1));
  assert.ok(!has(), 'it is left out');
  await button.click();
  await shown.waitForSelector('.pinning .pin[aria-pressed=true]');
  await ask(requests.at(-1));
  assert.ok(has(), 'it is back');
  assert.deepEqual([complaints, await shown.evaluate(() => window.refused)], [[], []]);
  await close();
});
