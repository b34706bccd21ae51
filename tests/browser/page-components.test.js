/** Components that a person drops on the demo page: what they ask for is shown first, and they have what they were granted. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { KEY, modelServer } from './page/model-server.js';
import { answered, ask, askServer, calls, choose, components, open, panel, question, tab } from './page/visit.js';

let site;
before(async () => {
  assert.ok(components, '$WINDLASS_PAGE_COMPONENTS names the folder of the components');
  site = await open();
});
after(() => site.close());

function visit(name, work) {
  test(name, async (t) => {
    const context = await site.visitor();
    const page = await tab(context, site.url);
    await work(page, t);
    assert.deepEqual(page.faults, []);
    await context.close();
  });
}

/** Drops a file on the drop zone. */
async function drop(page, name, bytes) {
  await panel(page, 'Components');
  const carried = await page.evaluateHandle(({ name, base64 }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    return data;
  }, { name, base64: Buffer.from(bytes).toString('base64') });
  const zone = page.locator('.drop-zone');
  await zone.dispatchEvent('dragover', { dataTransfer: carried });
  await zone.dispatchEvent('drop', { dataTransfer: carried });
}

visit('card_4_a_dropped_component_says_what_it_asks_for_and_has_what_it_was_granted', async (page) => {
  await drop(page, 'words.wasm', await readFile(`${components}/words.wasm`));
  const form = page.getByRole('form', { name: 'words asks' });
  await form.getByText('a tool CountWords: Counts how often each word occurs').waitFor();
  await form.getByText('files, to read').waitFor();
  // It asks to read, so writing is not offered; and it has nothing that was not granted.
  const workspace = form.getByLabel('The workspace');
  assert.deepEqual(await workspace.locator('option').allTextContents(), ['not at all', 'to read']);
  assert.equal(await workspace.inputValue(), 'none');
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await page.getByText('Granted nothing.').waitFor();
  await page.getByRole('button', { name: 'Count the words of the README' }).click();
  // The files stay closed to it, and nobody is asked: no answer could open them.
  await answered(page);
  assert.equal(await question(page, 'CountWords').count(), 0);
  assert.deepEqual(await calls(page), ['CountWords failed']);

  await page.getByRole('button', { name: 'Remove words' }).click();
  await drop(page, 'words.wasm', await readFile(`${components}/words.wasm`));
  await workspace.selectOption('read');
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await page.getByText('Granted the workspace to read.').waitFor();
  await page.getByRole('button', { name: 'Count the words of the README' }).click();
  await page.locator('.call.done').waitFor();
  await page.locator('.call.done summary').click();
  await page.locator('.call.done').getByText(/\d+ words, \d+ different/).waitFor();

  // The same again, with the same grant, is another one: the session takes that.
  await answered(page, 2);
  await page.getByRole('button', { name: 'Remove words' }).click();
  await drop(page, 'words.wasm', await readFile(`${components}/words.wasm`));
  await workspace.selectOption('read');
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await page.getByText('Granted the workspace to read.').waitFor();
  await page.getByRole('button', { name: 'Count the words of the README' }).click();
  await answered(page, 3);
  assert.deepEqual(await calls(page), ['CountWords failed', 'CountWords done', 'CountWords done']);
});

visit('card_4_a_hook_of_a_dropped_component_refuses_and_the_timeline_says_so', async (page) => {
  await choose(page, `${components}/policy.wasm`);
  const form = page.getByRole('form', { name: 'policy asks' });
  await form.getByText('a hook WritesInSrc, judge of PreToolUse').waitFor();
  await form.getByText('It asks for nothing that could be granted.').waitFor();
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await page.getByText('Granted nothing.').waitFor();
  await ask(page, 'Write a changelog');
  await answered(page);
  assert.deepEqual(await calls(page), ['Write failed']);
  const steps = (await panel(page, 'Timeline')).locator('.step');
  await steps.filter({ hasText: 'the policy allows writing below src only' }).first().waitFor();
});

visit('card_4_a_component_that_was_looked_at_and_not_loaded_does_nothing', async (page) => {
  await choose(page, `${components}/policy.wasm`);
  await page.getByRole('button', { name: 'Do not load' }).click();
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  assert.deepEqual(await calls(page), ['Write done']);
});

visit('card_4_what_is_no_component_is_told_in_one_message', async (page) => {
  const module = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  const told = [
    ['holiday.jpg', Buffer.from('not WebAssembly at all'), 'holiday.jpg is not a component that can be loaded: not WebAssembly.'],
    ['module.wasm', module, 'module.wasm is not a component that can be loaded: the component has 0 custom sections'],
    ['cut.wasm', (await readFile(`${components}/policy.wasm`)).subarray(0, 5_000), 'cut.wasm is not a component that can be loaded: damaged WebAssembly'],
  ];
  for (const [name, buffer, text] of told) {
    await choose(page, { name, mimeType: 'application/wasm', buffer });
    const alerts = page.getByRole('alert');
    await alerts.getByText(text).waitFor();
    assert.equal(await alerts.count(), 1);
    assert.equal(await page.getByRole('form', { name: 'asks' }).count(), 0);
  }
});

visit('card_4_a_component_that_never_ends_is_ended_with_its_worker_and_the_page_goes_on', async (page, t) => {
  await choose(page, `${components}/misbehaves.wasm`);
  const form = page.getByRole('form', { name: 'misbehaves asks' });
  await form.getByText('at most 2 s for a call, then its Worker is ended, and 32 MiB').waitFor();
  await form.getByLabel('The workspace').selectOption('read');
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await page.getByText('A call may take 2 s.').waitFor();
  const call = async (how) => {
    const server = await modelServer('answers', { name: 'Misbehave', input: { how, reads: '/shop' } });
    t.after(() => server.close());
    await askServer(page, server.url, KEY);
    await (await panel(page, 'Sessions')).getByRole('button', { name: 'New session' }).click();
    await ask(page, 'Good morning');
    await question(page, 'Misbehave').getByRole('button', { name: 'Allow once' }).click();
  };
  await call('loop');
  // The page is usable meanwhile.
  await page.locator('.call.runs').waitFor();
  await (await panel(page, 'Files')).getByRole('button', { name: 'README.md' }).click();
  await page.getByRole('textbox', { name: 'README.md' }).waitFor();
  await answered(page);
  const told = page.locator('.note.bad');
  await told.getByText('The component misbehaves did not finish within 2 s, so its Worker was ended.').waitFor();
  assert.equal(await told.count(), 1);
  assert.deepEqual(await calls(page), ['Misbehave failed']);
  // The next call has a new Worker, in which the same code is loaded again.
  await call('log');
  await answered(page);
  assert.deepEqual(await calls(page), ['Misbehave done']);
  await (await panel(page, 'Components')).getByRole('button', { name: 'Remove misbehaves' }).click();
  await page.waitForFunction(async () => (await (await caches.open('windlass-made')).keys()).length === 0);
});

visit('card_4_what_a_tab_that_is_gone_has_made_of_a_component_is_removed', async (page) => {
  const load = async (tab) => {
    await choose(tab, `${components}/policy.wasm`);
    await tab.getByRole('button', { name: 'Load with this grant' }).click();
    await tab.getByText('Granted nothing.').waitFor();
  };
  const tabs = () => page.evaluate(async () => {
    const made = await (await caches.open('windlass-made')).keys();
    return new Set(made.map(({ url }) => url.split('/made/')[1].split('/')[0])).size;
  });
  const [gone, living] = [await tab(page.context(), site.url), await tab(page.context(), site.url)];
  await load(gone);
  await load(living);
  assert.equal(await tabs(), 2);
  await gone.close();
  // The browser ends the locks of a closed tab in its own time.
  await page.waitForFunction(async () => {
    const { held } = await navigator.locks.query();
    return held.filter(({ name }) => name.startsWith('windlass-made:')).length === 1;
  });
  await load(page);
  assert.equal(await tabs(), 2);
});

visit('card_4_a_component_is_stopped_with_the_answer', async (page, t) => {
  const server = await modelServer('answers', { name: 'Misbehave', input: { how: 'loop', reads: '/shop' } });
  t.after(() => server.close());
  await choose(page, `${components}/misbehaves.wasm`);
  await page.getByLabel('The workspace').selectOption('read');
  await page.getByRole('button', { name: 'Load with this grant' }).click();
  await page.getByText('Granted the workspace to read.').waitFor();
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await question(page, 'Misbehave').getByRole('button', { name: 'Allow once' }).click();
  await page.locator('.call.runs').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('You stopped it here.').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
});
