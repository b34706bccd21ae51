/**
 * Visits of the demo page in a real browser: Chromium, driven as a person drives it.
 *
 * `$WINDLASS_BROWSER` is the built package (default: where `cargo xtask wasm` puts it), `$WINDLASS_CHROMIUM` the browser (default: the
 * one on PATH as `chromium`), `$WINDLASS_PAGE_COMPONENTS` a folder with the components that are dropped: `policy.wasm`,
 * `words.wasm`, `misbehaves.wasm`, `connected.wasm` and `clock.wasm`.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launch } from '../chromium.js';

const target = process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../../target/browser', import.meta.url));
const { serve } = await import(pathToFileURL(`${target}/demo/serve.js`));
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long a step of a person may take on a busy machine, in milliseconds: past it something hangs. */
const STEP_MS = 20_000;

/** The folder of the components that are dropped. */
export const components = process.env.WINDLASS_PAGE_COMPONENTS;

/** The page, served, and a browser for it; `close` ends both. */
export async function open() {
  const server = await serve(target);
  const browser = await launch();
  const url = `http://127.0.0.1:${server.address().port}/demo/?fast`;
  return {
    url,
    browser,
    /** A new person: storage of their own. */
    async visitor(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      context.setDefaultTimeout(STEP_MS);
      return context;
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A tab with the page, which has started. What goes wrong in it is in `faults`. */
export async function tab(context, url) {
  const page = await context.newPage();
  const faults = [];
  page.on('pageerror', (error) => faults.push(`${error}`));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) faults.push(message.text());
  });
  await page.goto(url);
  await started(page);
  return Object.assign(page, { faults });
}

export async function started(page) {
  await page.getByRole('region', { name: 'What was said' }).waitFor();
}

/** Tries to open a session whose tab was closed, whose lock the browser ends in its own time. */
export async function triedUntilOpen(page) {
  const isOpen = () => document.querySelector('.composer .primary:not(:disabled)') !== null;
  for (let tries = 0; tries < 20; tries += 1) {
    // Either it is open, or the page says that it is not.
    await page.waitForFunction(() => document.querySelector('.composer .primary:not(:disabled), [role=alert]') !== null);
    if (await page.evaluate(isOpen)) return;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  }
}

export async function ask(page, prompt) {
  await page.getByRole('textbox', { name: 'Prompt' }).fill(prompt);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** Waits until so many answers stand there complete. */
export async function answered(page, count = 1) {
  await page.locator('.end').nth(count - 1).waitFor();
  await page.getByRole('button', { name: 'Send' }).waitFor();
}

/** The question that waits. */
export function question(page, tool) {
  return page.getByRole('region', { name: `May ${tool} run?` });
}

export async function panel(page, name) {
  await page.getByRole('tab', { name }).click();
  return page.getByRole('tabpanel', { name });
}

/** Chooses the file of a component, as the picker does. */
export async function choose(page, file) {
  await (await panel(page, 'Components')).getByLabel('Drop a component').setInputFiles(file);
}

/** Lets a person ask a server with their key. */
export async function askServer(page, url, key) {
  const settings = await panel(page, 'Settings');
  await settings.getByLabel('A server that speaks the Messages API').check();
  await settings.getByLabel('Address').fill(url);
  await settings.getByLabel('Your key').fill(key);
}

/** The only message of trouble. */
export async function onlyAlert(page, part) {
  await page.getByRole('alert').getByText(part).waitFor();
  assert.equal(await page.getByRole('alert').count(), 1);
}

/** Chooses the files that the agent works on. */
export async function workOn(page, name) {
  const files = await panel(page, 'Files');
  const choices = files.locator('.workspaces');
  if (!(await choices.evaluate(({ open }) => open))) await choices.locator('summary').click();
  await choices.getByRole('radio', { name: new RegExp(`^${name}`) }).click();
  await choices.locator('summary').getByText(name).waitFor();
  return files;
}

/** The text of a file that is open. */
export function editor(page, path) {
  return page.getByRole('textbox', { name: path });
}

/** The calls on the page: names with their states. */
export function calls(page) {
  return page.locator('.call').evaluateAll((found) =>
    found.map((call) => `${call.querySelector('.name').textContent} ${call.querySelector('.state').textContent}`),
  );
}

/** What axe finds wrong, each with the elements. */
export async function inaccessible(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`);
}
