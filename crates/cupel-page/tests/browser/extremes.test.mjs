// Much text, and hostile text.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { file, headline, launch, open, singleFile, view } from './support.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

function request(texts) {
  return JSON.stringify({ messages: texts.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })) });
}

test('ten thousand messages scroll, of which few exist at once', async () => {
  const texts = Array.from({ length: 10_001 }, (_, at) => `Message ${at} is about parcel ${at % 97} and the weather in week ${at % 52}.`);
  const { url } = singleFile('long.html', file('long.json', request(texts)), '--max', '8000', '--tokenizer', 'estimate');
  const { page, complaints, close } = await open(browser, url);
  assert.equal((await headline(page)).of, 10_001);
  const seen = await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const height = document.documentElement.scrollHeight;
    const result = { most: 0, empty: 0, frames: 0, places: new Set() };
    for (let step = 0; step <= 120; step += 1) {
      scrollTo(0, (height * step) / 120);
      await frame();
      await frame();
      result.frames += 1;
      const rows = [...document.querySelectorAll('.messages [role=option]')];
      result.most = Math.max(result.most, rows.length);
      const middle = document.elementFromPoint(200, innerHeight - 120)?.closest('[role=option]');
      if (!middle && step < 119) result.empty += 1;
      if (middle) result.places.add(middle.dataset.index);
    }
    return { ...result, places: result.places.size };
  });
  assert.equal(seen.frames, 121);
  assert.ok(seen.most > 5 && seen.most < 80, `${seen.most} rows exist at once`);
  assert.equal(seen.empty, 0, 'every frame shows rows where one looks');
  assert.ok(seen.places > 100, `${seen.places} places were seen`);
  const before = (await headline(page)).kept;
  await page.locator('#budget').press('PageUp');
  assert.ok((await headline(page)).kept > before);
  await page.keyboard.press('End');
  assert.deepEqual(complaints, []);
  await close();
});

const HOSTILE = [
  '<script>window.ran = 1</script>',
  '</script><script>window.ran = 2</script>',
  '<img src=x onerror="window.ran = 3">',
  '<!--<script>window.ran = 4</script>',
  '"><svg onload="window.ran = 5">',
  'javascript:window.ran=6 {{7*7}} ${window.ran = 7} <iframe srcdoc="<script>parent.ran = 8</script>">',
  '\u202e\u0000\u2028 </textarea></title></style><style>*{display:none}</style>',
  '<base href="https://example.invalid/"><meta http-equiv="refresh" content="0;url=https://example.invalid/">',
];

test('texts are texts, whatever they hold', async () => {
  const path = file('</b>hostile.json'.replaceAll('/', ''), request([...HOSTILE, `What about ${HOSTILE[0]}?`]));
  const served = await view(path, '--max', '4000');
  for (const url of [served.url, singleFile('hostile.html', path, '--max', '4000').url]) {
    const { page, complaints, close } = await open(browser, url);
    for (let step = 0; step < 9; step += 1) {
      await page.keyboard.press('j');
      assert.equal(await page.locator('.detail pre').count(), 1);
    }
    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.selectOption('#beside', 'chat');
    const shown = await page.locator('.messages .row').first().textContent();
    assert.ok(shown.includes(HOSTILE[0]));
    assert.equal(await page.locator('#app img, #app iframe, #app script, #app style, #app base, #app meta').count(), 0);
    assert.equal(await page.evaluate(() => window.ran), undefined);
    assert.ok(await page.locator('h1').isVisible());
    assert.deepEqual([complaints, await page.evaluate(() => window.refused)], [[], []]);
    await close();
  }
  served.stop();
});
