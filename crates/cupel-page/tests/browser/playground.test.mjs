// The playground: the page with the engine inside, from files alone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, open, root, selected } from './support.mjs';

const folder = join(root, 'node/dist/playground');
const skip = existsSync(folder) ? false : 'node/wasm/build makes it';
const CHAT = 'examples/support-chat.json';
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };
let browser;
let server;
let address;
const asked = [];

before(async () => {
  if (skip) return;
  server = createServer((request, answer) => {
    const path = normalize(new URL(request.url, 'http://here').pathname).replace(/\/$/, '/index.html');
    asked.push(`${request.method} ${request.url}`);
    if (!existsSync(join(folder, path))) {
      answer.writeHead(404).end();
      return;
    }
    answer.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(join(folder, path)));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${server.address().port}/`;
  browser = await launch();
});

after(async () => {
  server?.close();
  await browser?.close();
});

async function opened(hash = '', options = {}) {
  const told = await open(browser, address + hash, options);
  await told.page.waitForSelector('#example');
  return told;
}

/** The numbers of the request's own headline. */
async function headline(page) {
  const text = await page.textContent('.headline h1');
  const found = /(\d[\d,]*) of (\d[\d,]*) messages/.exec(text) ?? /all ((\d[\d,]*)) messages/.exec(text);
  return { kept: Number(found[1]), of: Number(found[2]) };
}

async function paste(page, text) {
  await page.fill('#request', text);
  await page.waitForSelector('.headline');
}

test('a pasted request is shown as the command chooses, and nothing of it leaves the page', { skip }, async () => {
  const { page, complaints, close } = await opened();
  await paste(page, readFileSync(join(root, CHAT), 'utf8'));
  const before = asked.length;
  for (const budget of [700, 1500, 3000]) {
    await page.fill('.number', String(budget));
    await page.press('.number', 'Enter');
    assert.equal((await headline(page)).kept, selected(CHAT, budget).messages, `at ${budget}`);
  }
  assert.equal(asked.length, before, 'the slider asks nobody');
  assert.ok(
    asked.every((line) => /^GET \/[\w.]*$/.test(line)),
    `${asked}`,
  );
  assert.deepEqual([complaints, await page.evaluate(() => window.refused)], [[], []]);
  await close();
});

test('a link has the settings and no text', { skip }, async () => {
  const { page, close } = await opened('#policy=chat&maxTokens=900');
  assert.equal(await page.inputValue('#policy'), 'chat');
  await paste(page, readFileSync(join(root, CHAT), 'utf8'));
  assert.match(await page.textContent('.place'), /chat/);
  assert.equal(await page.inputValue('.number'), '900');
  await page.fill('#pins', '2, words:walnut');
  await page.press('#pins', 'Enter');
  await page.waitForFunction(() => location.hash.includes('pins'));
  const hash = await page.evaluate(() => decodeURIComponent(location.hash));
  assert.ok(hash.includes('policy=chat') && !hash.includes('walnut'), hash);
  await page.fill('.number', '1200');
  await page.press('.number', 'Enter');
  await page.waitForFunction(() => location.hash.includes('maxTokens=1200'));
  assert.equal(await page.inputValue('#maxTokens'), '1200');
  await close();
});

test('other policies are compared without a server, and errors say what to do', { skip }, async () => {
  const { page, close } = await opened();
  await page.click('#example');
  await page.waitForSelector('#beside');
  await page.selectOption('#beside', 'chat');
  await page.waitForFunction(() => /keeps/.test(document.querySelector('.compared').textContent));
  await page.fill('#request', '{"messages": 3}');
  await page.waitForSelector('.told.wrong');
  assert.match(await page.textContent('.told'), /give the messages as a list/);
  await close();
});

test('a dropped file is read, and a phone has room for all of it', { skip }, async () => {
  const { page, complaints, close } = await opened('', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' });
  await page.setInputFiles('#file', join(root, CHAT));
  await page.waitForSelector('.headline');
  assert.equal((await headline(page)).of, 115);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(complaints, []);
  await close();
});
