/** Components that are loaded as they are, from an address, an answer, a file or their bytes: in Node, and in Workers of a page in Chromium. */
import './npm-packages.js';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inPage, openBrowser } from './chromium-page.js';
import { load, windlass } from './package-under-test.js';
import { agentOf, callOf } from './scripted-agent.js';

const folder = process.env.WINDLASS_PAGE_COMPONENTS;
const { loadComponent, transpileComponent } = await load('components.js');
const words = () => readFile(`${folder}/words.wasm`);
const TEXT = 'One fish, two fish.\n';

let browser;
before(async () => {
  assert.ok(folder, '$WINDLASS_PAGE_COMPONENTS names the folder of the components');
  browser = await openBrowser();
});
after(() => browser?.close());

test('card_5_a_component_is_loaded_as_it_is_in_node', { skip: parseInt(process.versions.node, 10) < 22 && 'components in JavaScript need Node 22' }, async () => {
  const bytes = await words();
  const sources = [pathToFileURL(`${folder}/words.wasm`), bytes, new Response(bytes), new Blob([bytes])];
  for (const source of sources) {
    const plugin = await loadComponent(source, { workspace: 'read' }, { inWorker: false });
    const files = new windlass.MemoryFileSystem({ files: { '/w/a.txt': TEXT } });
    const { agent } = await agentOf([callOf('CountWords', { file_path: '/w/a.txt', top: 1 }), { respond: 'Done.' }], {
      plugins: [plugin], files, cwd: '/w', allowedTools: ['CountWords'],
    });
    let told;
    for await (const message of agent.query('Go.')) if (message.type === 'user') told = JSON.stringify(message.message.content);
    assert.match(told, /fish/);
  }
});

test('card_5_a_component_in_rust_is_loaded_in_every_node', async () => {
  const plugin = await loadComponent(await readFile(`${folder}/policy.wasm`), {}, { inWorker: false });
  assert.equal(plugin.hooks[0].kind, 'judge');
});

test('card_5_what_is_no_component_is_told', async () => {
  await assert.rejects(loadComponent(new Uint8Array([0, 1, 2])), /no component|not a component|WebAssembly/);
  await assert.rejects(loadComponent(new Response('gone', { status: 404 })), /the server answered 404/);
  await assert.rejects(loadComponent(5), /loaded from an address, a Response, a File, or its bytes/);
  const bytes = await words();
  await assert.rejects(loadComponent(bytes, { http: ['https://a.example'] }, { inWorker: false }), /does not ask|not declare|a\.example/);
  const cut = bytes.subarray(0, bytes.length / 2);
  await assert.rejects(transpileComponent(cut), Error);
});

test('card_5_a_component_is_loaded_into_a_worker_of_a_page', async () => {
  const page = await browser.newPage();
  const base64 = (await words()).toString('base64');
  assert.match(await inPage(page, 'worker/loaded-in-page.js', 'counted', base64, TEXT), /fish/);
});
