// One request: what is kept at every budget, and why.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { file, headline, launch, open, root, selected, singleFile, view } from './support.mjs';

const CHAT = 'examples/support-chat.json';
let browser;
let served;

before(async () => {
  browser = await launch();
  served = await view(CHAT);
});

after(async () => {
  served.stop();
  await browser.close();
});

async function setBudget(page, tokens) {
  await page.fill('.number', String(tokens));
  await page.press('.number', 'Enter');
}

test('a newcomer sees at once that something is left out, and why at this budget', async () => {
  const { page, complaints, close } = await open(browser, served.url);
  const { kept, of } = await headline(page);
  assert.equal(of, 115);
  assert.ok(kept > 3 && kept < 60, `${kept} kept`);
  assert.match(await page.textContent('.notice'), /fits whole.*starts at 2\d % of the request/s);
  const out = page.locator('.row.out').first();
  assert.match(await out.textContent(), /needs [\d,]+ tokens more/);
  assert.deepEqual([complaints, await page.evaluate(() => window.refused)], [[], []]);
  await close();
});

test('the slider keeps what select keeps, without asking a server', async () => {
  const { page, close } = await open(browser, served.url);
  const requests = [];
  page.on('request', (request) => requests.push(request.url()));
  for (const budget of [700, 750, 1500, 3000]) {
    await setBudget(page, budget);
    const { messages, tokens } = selected(CHAT, budget);
    assert.equal((await headline(page)).kept, messages, `at ${budget}`);
    assert.match(await page.textContent('.sub'), new RegExp(`^${tokens.toLocaleString('en-US')} of`));
  }
  assert.deepEqual(requests, []);
  await close();
});

test('dragging and arrows move the budget', async () => {
  const { page, close } = await open(browser, served.url);
  const slider = page.locator('#budget');
  const box = await slider.boundingBox();
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
  assert.equal((await headline(page)).kept, 115);
  await slider.press('Home');
  const least = await headline(page);
  const lowest = Number(await slider.inputValue());
  await slider.press('ArrowRight');
  const next = Number(await slider.inputValue());
  assert.ok(next > lowest);
  assert.notDeepEqual(await page.locator('.deck').textContent(), '');
  assert.deepEqual(selected(CHAT, next).messages, (await headline(page)).kept);
  assert.equal(selected(CHAT, lowest).messages, least.kept);
  assert.match(await slider.getAttribute('aria-valuetext'), /tokens: \d+ of 115 messages kept/);
  await close();
});

test('a message opens with its score, its words and the budgets at which it is in', async () => {
  const { page, close } = await open(browser, served.url);
  await setBudget(page, 750);
  await page.fill('input[type=search]', 'two kilos then');
  await page.locator('.messages .row').first().click();
  const detail = page.locator('.detail.open');
  const needs = /Left out – needs (\d+) tokens more/.exec(await detail.textContent());
  assert.ok(needs, await detail.textContent());
  assert.match(await detail.textContent(), /1\.952/);
  assert.deepEqual((await detail.locator('.words .word').allTextContents()).slice(0, 3), ['kilos', 'two', 'beans']);
  assert.ok((await detail.locator('pre mark').count()) > 0);
  assert.deepEqual(await detail.locator('pre mark.hit').allTextContents(), ['Two kilos then']);
  assert.equal(await page.locator('.messages .row mark.hit').count(), 1);
  await setBudget(page, 750 + Number(needs[1]));
  assert.match(await detail.textContent(), /Kept – its score earned a place/);
  await close();
});

test('filters and search show what they say', async () => {
  const { page, close } = await open(browser, served.url);
  await setBudget(page, 750);
  await page.getByRole('button', { name: /^Kept/ }).click();
  assert.equal(await page.locator('.messages .row').count(), await page.locator('.messages .row.in').count());
  assert.ok((await page.locator('.messages .row.in').count()) >= 7);
  await page.fill('input[type=search]', 'no message says this');
  assert.equal(await page.locator('.messages .row').count(), 0);
  assert.ok(await page.locator('.none').isVisible());
  await close();
});

test('another policy stands beside it, and every difference is marked', async () => {
  const { page, close } = await open(browser, served.url, { viewport: { width: 1280, height: 2400 } });
  await setBudget(page, 750);
  await page.selectOption('#beside', 'newest first');
  const differ = Number(/(\d+) parts? differ/.exec(await page.textContent('.compared'))[1]);
  assert.ok(differ > 0);
  await page.getByRole('button', { name: /^Differ/ }).click();
  assert.equal(await page.locator('.messages .row').count(), differ);
  assert.equal(await page.locator('.messages .tag.mine, .messages .tag.theirs').count(), differ);
  await page.selectOption('#beside', 'chat');
  const { messages, tokens } = selected(CHAT, 750, '--policy', 'chat');
  const told = await page.textContent('.compared');
  assert.match(told, new RegExp(`keeps ${messages} messages? in ${tokens} tokens`));
  await close();
});

test('before and after stand side by side', async () => {
  const { page, close } = await open(browser, served.url);
  await setBudget(page, 750);
  await page.getByRole('button', { name: 'Side by side' }).click();
  const rows = page.locator('.messages .row.sides');
  const gone = await page.locator('.messages .row.sides.out').first().locator('.cell').allTextContents();
  assert.equal(gone.length, 2);
  assert.match(gone[1], /^left out/);
  const kept = await page.locator('.messages .row.sides.in').first().locator('.says').allTextContents();
  assert.equal(kept[0], kept[1]);
  await page.selectOption('#beside', 'chat');
  assert.equal(await rows.first().locator('.cell').count(), 3);
  await close();
});

test('the keyboard is enough', async () => {
  const { page, close } = await open(browser, served.url);
  const chosen = () => page.locator('.row[aria-selected=true]').getAttribute('aria-posinset');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  assert.equal(await chosen(), '3');
  await page.keyboard.press('k');
  assert.equal(await chosen(), '2');
  const active = await page.locator('.messages').getAttribute('aria-activedescendant');
  assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
  for (let step = 0; step < 40; step += 1) await page.keyboard.press('j');
  const box = await page.locator('.row[aria-selected=true]').boundingBox();
  assert.ok(box.y > 0 && box.y + box.height <= 800, 'what is chosen is on the screen');
  const budget = await page.inputValue('#budget');
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await page.inputValue('#budget'), budget);
  await page.keyboard.press('/');
  await page.keyboard.type('jug');
  assert.equal(await page.inputValue('input[type=search]'), 'jug');
  await page.keyboard.press('Escape');
  assert.equal(await page.inputValue('input[type=search]'), '');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.detail.open').count(), 0);
  for (let step = 0; step < 3; step += 1) await page.keyboard.press('Tab');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, 'solid', 'focus can be seen');
  await close();
});

test('it is dark where the system is, and where one says so', async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const lightness = (colour) =>
    colour
      .match(/\d+/g)
      .slice(0, 3)
      .reduce((sum, part) => sum + Number(part), 0);
  const dark = await open(browser, served.url, { colorScheme: 'dark' });
  assert.ok(lightness(await paper(dark.page)) < 150);
  await dark.close();
  const light = await open(browser, served.url);
  assert.ok(lightness(await paper(light.page)) > 600);
  const button = light.page.getByRole('button', { name: /^Colours/ });
  await button.click();
  await button.click();
  assert.ok(lightness(await paper(light.page)) < 150);
  await light.page.reload();
  assert.ok(lightness(await paper(light.page)) < 150, 'it is remembered');
  await light.close();
});

test('a phone needs no scrolling sideways', async () => {
  const { page, close } = await open(browser, served.url, { viewport: { width: 360, height: 740 }, hasTouch: true });
  const sideways = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok((await sideways()) <= 0);
  await page.selectOption('#beside', 'chat');
  await page.getByRole('button', { name: 'Side by side' }).click();
  assert.ok((await sideways()) <= 0);
  await page.locator('.messages .row').nth(2).click();
  assert.ok(await page.locator('.detail.open pre').isVisible());
  assert.ok((await sideways()) <= 0);
  for (let step = 0; step < 6; step += 1) await page.keyboard.press('j');
  const row = await page.locator('.row[aria-selected=true]').boundingBox();
  const sheet = await page.locator('.detail.open').boundingBox();
  assert.ok(row.y >= 0 && row.y + row.height <= sheet.y, 'what is chosen is not covered');
  await close();
});

test('the single file does the same without a server', async () => {
  const { url } = singleFile('chat.html', CHAT, '--max', '750');
  const { page, complaints, close } = await open(browser, url);
  assert.equal((await headline(page)).kept, selected(CHAT, 750).messages);
  await page.locator('#budget').press('ArrowRight');
  await page.keyboard.press('j');
  assert.ok(await page.locator('.detail.open').isVisible());
  assert.deepEqual([complaints, await page.evaluate(() => window.refused)], [[], []]);
  await close();
});

test('a budget that does not hold what must be kept is told, and so is one that nobody knows', async () => {
  const small = await open(browser, singleFile('small.html', CHAT, '--max', '100').url);
  assert.match(await small.page.textContent('.notice'), /What must be kept does not fit.*618.*this one has 100/s);
  await small.close();
  const text = JSON.stringify({ ...JSON.parse(readFileSync(join(root, CHAT), 'utf8')), model: 'house-model' });
  const unknown = await open(browser, singleFile('unknown.html', file('unknown.json', text)).url);
  assert.match(await unknown.page.textContent('.notice'), /Nothing says how much fits.*house-model is not known/s);
  const { kept, of } = await headline(unknown.page);
  assert.ok(kept > 3 && kept < of / 2);
  await unknown.close();
});

test('what is set aside is shown as that, and not as free', async () => {
  const { url } = singleFile(
    'unknown.html',
    CHAT,
    '--format',
    'openai-responses',
    '--model',
    'gpt-4.1',
    '--max',
    '2000',
    '--reserve',
    '500',
    '--margin',
    '10%',
  );
  const { page, close } = await open(browser, url);
  const bar = await page.locator('.bar-title').nth(1).textContent();
  assert.match(bar, /500 kept free for the answer/);
  assert.match(bar, /\d+ kept free, as counts may be off/);
  await close();
});
