/** What axe finds wrong with the demo page: nothing, in all of its states, light and dark, wide and on a phone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpServer, Server } from './mcp/server.js';
import { answered, ask, components, inaccessible, open, panel, question, started, tab, workOn } from './page/visit.js';

let site;
let servers;
before(async () => {
  site = await open();
  servers = { docs: await Server.start(), closed: await HttpServer.start((request, response) => response.end('{}'), {}) };
});
after(async () => {
  await site.close();
  for (const server of Object.values(servers)) await server.stop();
});

const PHONE = { width: 390, height: 844 };
const PANELS = ['Sessions', 'Files', 'Timeline', 'Components', 'MCP', 'Settings'];

for (const colorScheme of ['light', 'dark']) {
  for (const [size, viewport] of [['wide', { width: 1280, height: 800 }], ['on a phone', PHONE]]) {
    test(`card_4_axe_finds_nothing_${colorScheme}_${size.replaceAll(' ', '_')}`, async () => {
      const context = await site.visitor({ viewport, colorScheme, reducedMotion: 'reduce' });
      await context.addInitScript(pickedOnce);
      const page = await tab(context, site.url);
      const found = [];
      const look = async (state) => {
        found.push(...(await inaccessible(page)).map((violation) => `${state}: ${violation}`));
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        if (width > viewport.width) found.push(`${state}: ${width} pixels wide`);
      };
      await look('at first');
      for (const name of PANELS) {
        await panel(page, name);
        await look(name);
      }
      await chat(page, viewport);
      await ask(page, 'Fix the failing tests');
      await question(page, 'Bash').waitFor();
      await look('question about a command');
      await question(page, 'Bash').getByRole('button', { name: 'Allow always: Bash' }).click();
      await question(page, 'Edit').waitFor();
      await look('question about a change');
      await question(page, 'Edit').getByRole('button', { name: 'Deny' }).click();
      await answered(page);
      const folded = page.locator('.chat details:not([open]) > summary');
      for (let left = await folded.count(); left > 0; left -= 1) await folded.first().click();
      await look('an answer, unfolded');
      for (const name of PANELS) {
        await panel(page, name);
        if (name === 'Files') await page.getByRole('button', { name: 'README.md' }).click();
        if (name === 'Timeline') await page.getByRole('button', { name: 'Earlier' }).click();
        if (name === 'Settings') await page.getByLabel('A server that speaks the Messages API').check();
        if (name === 'Components') {
          await page.getByLabel('Drop a component').setInputFiles({ name: 'x.wasm', mimeType: 'application/wasm', buffer: Buffer.from('x') });
          await page.getByRole('alert').waitFor();
          await look('a file that is no component');
          await grant(page, look);
        }
        if (name === 'MCP') await addServers(page);
        await look(`${name}, used`);
      }
      await chat(page, viewport);
      await look('a moment of the past');
      await page.getByRole('button', { name: 'Back to now' }).click();
      await workOn(page, 'Files in this browser');
      await page.locator('.workspaces summary').click();
      await look('the choice of a workspace');
      await page.getByRole('button', { name: 'Pick a directory' }).click();
      await page.locator('.workspaces summary').getByText('garden').waitFor();
      await workOn(page, 'The bookshop');
      await page.locator('.workspaces summary').click();
      await look('a directory that can be chosen');
      await workOn(page, 'garden');
      await page.reload();
      await started(page);
      await chat(page, viewport);
      await page.getByRole('button', { name: 'Let the page have garden' }).click();
      await page.getByRole('alert').waitFor();
      await look('a directory that is asked for again');
      await panel(page, 'Components');
      await page.getByRole('button', { name: 'Go on without connected-js' }).waitFor();
      await look('a component that has to be dropped again');
      assert.deepEqual(found, []);
      await context.close();
    });
  }
}

/** A browser that lets the page have a directory until it is loaded again. */
function pickedOnce() {
  let permission = 'denied';
  globalThis.showDirectoryPicker = async () => {
    permission = 'granted';
    return (await navigator.storage.getDirectory()).getDirectoryHandle('garden', { create: true });
  };
  FileSystemHandle.prototype.queryPermission = async () => permission;
  FileSystemHandle.prototype.requestPermission = async () => permission;
}

/** A component that asks for everything is looked at, wrongly granted, and loaded. */
async function grant(page, look) {
  await page.getByLabel('Drop a component').setInputFiles(`${components}/connected.wasm`);
  const form = page.getByRole('form');
  await form.waitFor();
  await look('what a component asks for');
  const load = form.getByRole('button', { name: 'Load with this grant' });
  await form.getByLabel('The secret TOKEN').fill('a-token-of-the-person');
  await load.click();
  await form.getByRole('alert').waitFor();
  await look('a grant that makes no sense');
  await form.getByLabel('GET to http://localhost').check();
  await load.click();
  await page.getByText('Granted GET to http://localhost, the secret TOKEN.').waitFor();
}

/** One that answers, and one that does not; the form is filled. */
async function addServers(page) {
  const form = page.getByRole('form', { name: 'Add a server' });
  for (const [name, { url }] of Object.entries(servers)) {
    await form.getByLabel('Name').fill(name);
    await form.getByLabel('Address').fill(url);
    await form.getByRole('button', { name: 'Add' }).click();
  }
  await page.getByText('5 tools').click();
  await page.locator('.badge').getByText('failed').waitFor();
  await form.getByLabel('A header').fill('Authorization');
  await form.getByLabel('Value').fill('Bearer x');
  await form.getByRole('button', { name: 'Add' }).click();
  await form.getByRole('alert').waitFor();
}

/** On a phone the conversation is a tab like others. */
async function chat(page, { width }) {
  if (width === PHONE.width) await page.getByRole('tab', { name: 'Chat' }).click();
}
