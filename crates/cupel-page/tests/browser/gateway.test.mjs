// The page of a gateway, against a small server that speaks its API.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FakeGateway } from './gateway.mjs';
import { headline, launch, open } from './support.mjs';
import { agentRun } from './session.mjs';

let browser;
let gateway;
let run;

before(async () => {
  browser = await launch();
  run = agentRun({ max: 2_000, steps: 6, shown: 1 });
  gateway = await new FakeGateway([...run.rows], run.views).listen();
});

after(async () => {
  await gateway.stop();
  await browser.close();
});

test('requests are listed as they come, and one opens', async () => {
  const { page, complaints, close } = await open(browser, gateway.url);
  await page.waitForSelector('.live[data-state=live]');
  await page.waitForFunction(() => document.querySelectorAll('.requests .row').length === 6);
  assert.match(await page.locator('.requests .row').first().textContent(), /fix-parser step 6/);
  gateway.tell({ ...run.rows[0], id: 7, title: '<b>hostile</b>', status: 'passed', note: 'not JSON', has_view: false });
  await page.waitForFunction(() => document.querySelectorAll('.requests .row').length === 7);
  assert.match(await page.locator('.requests .row').first().textContent(), /passed<b>hostile<\/b>.*not JSON/s);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.request h1');
  assert.match(await page.textContent('h1'), /was sent \d+ of \d+ messages/);
  await page.keyboard.press('Escape');
  await page.waitForSelector('.all-requests');
  assert.deepEqual([complaints, await page.evaluate(() => window.refused)], [[], []]);
  await close();
});

test('a step shows the cache, what was cut and sent again, and the run with a point for each step', async () => {
  const { page, close } = await open(browser, `${gateway.url}#/r/6`);
  await page.waitForSelector('.step');
  const { step } = run.views.get(6);
  assert.equal(await page.locator('.run .line.sent circle').count(), 6);
  assert.equal(await page.locator('.run .line.everything polyline').count(), 1);
  assert.equal(await page.locator('.run .line.newest_first polyline').count(), 1);
  const { kept } = await headline(page);
  assert.equal(kept, run.rows[5].kept);
  await page.getByRole('button', { name: /^Kept/ }).click();
  assert.equal((await page.locator('.row .tag.cached').count()) > 0, step.cached_tokens > 0);
  await page.getByRole('button', { name: /^All/ }).click();
  await page.locator('#budget').press('PageUp');
  assert.match(await page.textContent('.moved'), /what the policy alone would choose/);
  await page.getByRole('button', { name: 'Back to what was sent' }).click();
  assert.equal((await headline(page)).kept, kept);
  await close();
});

test('windows that upstreams told are shown, and forgotten by a button', async () => {
  const { page, complaints, close } = await open(browser, gateway.url);
  await page.waitForSelector('.live[data-state=live]');
  assert.equal(await page.locator('.limits').isVisible(), false, 'none are known');
  gateway.limits = [{ upstream: 'http://one', model: '<i>m</i>', keys: '0a1b2c3d', tokens: 32768, counts_answer: true, seconds_left: 1790 }];
  await page.reload();
  await page.waitForSelector('.limits li');
  assert.match(
    await page.locator('.limits').textContent(),
    /1 window told.*<i>m<\/i> at http:\/\/one, keys 0a1b2c3d: 32,768 tokens with the answer, for 30 minutes/s,
  );
  await page.click('.limits .forget');
  await page.waitForSelector('.limits', { state: 'hidden' });
  assert.deepEqual([gateway.limits, complaints], [[], []]);
  await close();
});

test('another policy is asked of the server', async () => {
  const { page, close } = await open(browser, `${gateway.url}#/r/6`);
  await page.waitForSelector('#beside');
  await page.selectOption('#beside', 'chat');
  await page.waitForFunction(() => /keeps/.test(document.querySelector('.compared').textContent));
  assert.deepEqual(gateway.asked.at(-1), [6, 'chat']);
  await close();
});

test('a request that is gone is told in words', async () => {
  const { page, close } = await open(browser, `${gateway.url}#/r/3`);
  await page.waitForFunction(() => /cannot be shown/.test(document.querySelector('h1').textContent));
  assert.match(await page.textContent('.sub'), /not kept any more/);
  await close();
});

test('after a restart the list begins anew', async () => {
  const second = await new FakeGateway([...run.rows], run.views).listen();
  const { page, close } = await open(browser, second.url);
  await page.waitForFunction(() => document.querySelectorAll('.requests .row').length === 6);
  const { port } = second;
  await second.stop();
  await page.waitForSelector('.live[data-state=lost]');
  const third = new FakeGateway([{ ...run.rows[0], id: 1, title: 'after the restart' }], new Map());
  third.instance = 'second';
  await third.listen(port);
  await page.waitForFunction(() => document.querySelectorAll('.requests .row').length === 1, null, { timeout: 20_000 });
  assert.match(await page.locator('.requests .row').first().textContent(), /after the restart/);
  await third.stop();
  await close();
});
