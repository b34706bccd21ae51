/** The demo page for everybody: by keyboard alone, with assistive technology, light and dark, on a phone, under its policy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpServer, Server } from './mcp/server.js';
import { answered, ask, components, editor, inaccessible, open, panel, question, started, tab, workOn } from './page/visit.js';

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
          await page.getByLabel('Drop a component').setInputFiles(`${components}/words.wasm`);
          await page.getByRole('form').waitFor();
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

test('card_4_everything_can_be_done_by_keyboard', async () => {
  const context = await site.visitor();
  const page = await tab(context, site.url);
  const { keyboard } = page;
  /** Tabs on until something with this name has the focus, as a person looks for it. */
  const reach = async (name) => {
    for (let steps = 0; steps < 60; steps += 1) {
      const at = await page.evaluate(() => {
        const { activeElement: element } = document;
        if (!element.matches('button, input, textarea, select, summary')) return '';
        return element.labels?.[0]?.textContent ?? element.ariaLabel ?? element.textContent;
      });
      if (at.includes(name)) return;
      await keyboard.press('Tab');
    }
    assert.fail(`Tab does not lead to ${name}`);
  };
  await reach('Prompt');
  await keyboard.type('Write a changelog');
  await keyboard.press('Enter');
  // The question takes the focus from the prompt, which is empty.
  await question(page, 'Write').waitFor();
  await page.locator('.question h3:focus').waitFor();
  await reach('Allow once');
  await keyboard.press('Enter');
  await answered(page);
  await reach('Files');
  await keyboard.press('ArrowRight');
  await page.getByRole('tabpanel', { name: 'Timeline' }).waitFor();
  await reach('replayed from the journal');
  await keyboard.press('ArrowLeft');
  await page.getByText('You see step').waitFor();
  await reach('Back to now');
  await keyboard.press('Enter');
  await page.getByText('You see step').waitFor({ state: 'detached' });
  await reach('Timeline');
  await keyboard.press('ArrowLeft');
  // The call above is called so, too.
  await page.getByRole('button', { name: 'CHANGELOG.md' }).waitFor();
  await reach('CHANGELOG.md');
  await keyboard.press('Enter');
  await editor(page, 'CHANGELOG.md').waitFor();
  await keyboard.press('Tab');
  await reach('CHANGELOG.md');
  await keyboard.type('Mine. ');
  await page.getByText('(not saved)').waitFor();
  await keyboard.press('Control+s');
  await page.getByText('(not saved)').waitFor({ state: 'detached' });
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('card_4_colours_are_those_of_the_system_or_of_the_person', async () => {
  const context = await site.visitor({ colorScheme: 'dark' });
  const page = await tab(context, site.url);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByLabel('Colours').selectOption('light');
  await page.waitForFunction((dark) => getComputedStyle(document.body).backgroundColor !== dark, dark);
  await page.reload();
  await started(page);
  assert.notEqual(await background(), dark);
  await context.close();
});

test('card_4_on_a_phone_a_question_comes_to_the_person', async () => {
  const context = await site.visitor({ viewport: PHONE, hasTouch: true, isMobile: true });
  const page = await tab(context, site.url);
  await ask(page, 'Write a changelog');
  await page.getByRole('tab', { name: 'Settings' }).tap();
  await page.getByRole('tab', { name: 'Chat' }).tap();
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).tap();
  await answered(page);
  await context.close();
});

test('card_4_the_page_runs_no_script_but_its_own', async () => {
  const context = await site.visitor();
  const page = await context.newPage();
  await page.goto(site.url);
  const ran = await page.evaluate(async () => {
    const inline = document.createElement('script');
    inline.textContent = 'globalThis.inlineRan = true';
    document.head.append(inline);
    const foreign = await import('data:text/javascript,export default 1').then(() => true, () => false);
    const blob = await import(URL.createObjectURL(new Blob(['export default 1'], { type: 'text/javascript' }))).then(() => true, () => false);
    return { inline: Boolean(globalThis.inlineRan), foreign, blob };
  });
  assert.deepEqual(ran, { inline: false, foreign: false, blob: false });
  await context.close();
});
