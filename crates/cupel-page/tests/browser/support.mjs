// A real browser, the real command, and what both say when something is wrong.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../../../..');
export const web = join(here, '../../web');
export const cupel = process.env.CUPEL ?? join(root, 'target/debug/cupel');
export const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CUPEL_')));

export const folder = mkdtempSync(join(tmpdir(), 'cupel-page-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** What the command prints. */
export function run(...args) {
  return execFileSync(cupel, args, { cwd: root, env: environment, encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** A file with this text. */
export function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The command at work until it is stopped; resolves with the first line that it prints. */
export async function serve(...args) {
  const child = spawn(cupel, args, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const line = await new Promise((resolve, reject) => {
    lines.once('line', resolve);
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
  });
  return { line, stop: () => child.kill() };
}

/** `cupel view`: the address of its page. */
export async function view(...args) {
  const { line, stop } = await serve('view', '--no-open', ...args);
  return { url: line, stop };
}

/** The page of `cupel explain --html`, and the data in it. */
export function singleFile(name, ...args) {
  const path = join(folder, name);
  run('explain', ...args, '--html', path);
  const text = readFileSync(path, 'utf8');
  const data = /id="view">(.*?)<\/script>/s.exec(text)[1];
  return { url: `file://${path}`, view: JSON.parse(data) };
}

export async function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A page that notes every complaint: errors, refused sources, requests that leave its own origin. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith('data:') && new URL(asked).origin !== new URL(url).origin) complaints.push(`request: ${asked}`);
  });
  await page.addInitScript(() => {
    window.refused = [];
    document.addEventListener('securitypolicyviolation', (event) => window.refused.push(event.blockedURI || event.violatedDirective));
  });
  await page.goto(url);
  await page.waitForSelector('h1');
  return { page, complaints, close: () => context.close() };
}

/** The numbers of the headline: `sees 7 of 115 messages`. */
export async function headline(page) {
  const text = await page.textContent('h1');
  const found = /(\d[\d,]*) of (\d[\d,]*) messages/.exec(text) ?? /all ((\d[\d,]*)) messages/.exec(text);
  return { kept: Number(found[1].replaceAll(',', '')), of: Number(found[2].replaceAll(',', '')) };
}

/** What `cupel select` keeps at a budget. */
export function selected(path, max, ...args) {
  const { summary } = JSON.parse(run('explain', path, '--max', String(max), '--json', ...args));
  return { messages: summary.messages_after, tokens: summary.tokens_after };
}
