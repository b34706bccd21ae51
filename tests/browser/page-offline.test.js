/** The demo page without a network: what it keeps, when a newer build takes its place, and what it never keeps. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { KEY, modelServer } from './page/model-server.js';
import { answered, ask, askServer, calls, open, panel, question, started, tab } from './page/visit.js';
import { directory } from './package-under-test.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

async function visitor(t) {
  const context = await site.visitor();
  t.after(() => context.close());
  return context;
}

/** A tab whose page says that it is kept. */
async function keptTab(context, url = site.url) {
  const page = await tab(context, url);
  await isKept(page, /[0-9a-f]{16}/);
  return page;
}

/** Waits until the page says that this build of it is kept. */
async function isKept(page, build) {
  await (await panel(page, 'Settings')).getByText(new RegExp(`This browser keeps the page \\(build ${build.source}\\)`)).waitFor();
}

/** The addresses that the page keeps, by the names of the caches. */
function kept(page) {
  return page.evaluate(async () => {
    const found = {};
    for (const name of await caches.keys()) found[name] = (await (await caches.open(name)).keys()).map(({ url }) => url);
    return found;
  });
}

/** Whether the browser reaches the server of the page, by a file that is not kept. */
function isOnline(page) {
  return page.evaluate(() => fetch('serve.js').then(({ ok }) => ok, () => false));
}

test('card_4_the_page_works_without_a_network_after_it_was_opened_once', async (t) => {
  const context = await visitor(t);
  const page = await keptTab(context);
  assert.equal(await isOnline(page), true);
  await context.setOffline(true);
  assert.equal(await isOnline(page), false);
  // The model, the shell and the tools for files are loaded by the first prompt.
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').getByRole('button', { name: 'Allow always' }).first().click();
  await question(page, 'Edit').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  await page.getByText('All 10 tests pass.').waitFor();
  await page.reload();
  await started(page);
  assert.equal(await isOnline(page), false);
  assert.equal((await calls(page)).at(-1), 'Bash done');
  await ask(page, 'Who are you?');
  await answered(page, 2);
  await page.getByText('I am a script').waitFor();
  // The Worker of a component has the policy that came with its script.
  const policy = await page.evaluate(async () => (await fetch('component-worker.js')).headers.get('content-security-policy'));
  assert.match(policy, /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'$/);
  // By any of its addresses, in another tab.
  const other = await tab(context, new URL('index.html', site.url).href);
  await ask(other, 'Who are you?');
  await answered(other);
  assert.deepEqual([...page.faults, ...other.faults], []);
});

test('card_4_the_page_keeps_its_own_files_and_no_answers', async (t) => {
  const server = await modelServer('answers');
  t.after(() => server.close());
  const page = await keptTab(await visitor(t));
  const before = await kept(page);
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await answered(page);
  assert.equal(server.requests.length, 1);
  // Nor another file of the same server.
  assert.equal(await isOnline(page), true);
  const now = await kept(page);
  assert.deepEqual(now, before);
  const [[name, urls], ...others] = Object.entries(now);
  assert.match(name, /^windlass-page:http:\S+\/demo\/ [0-9a-f]{16}$/);
  assert.deepEqual(others, []);
  const root = new URL('..', site.url).href;
  assert.deepEqual(urls.filter((url) => !url.startsWith(root)), []);
  const paths = urls.map((url) => url.slice(root.length));
  for (const path of ['demo/', 'demo/page.js', 'demo/script.json', 'windlass_browser_testkit_bg.wasm', 'files/files.core.wasm']) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(paths.filter((path) => /serve\.js|demo\/demo\.js|module-server/.test(path)), []);
});

/** A copy of the built package that a test builds anew, and its page. */
async function copied(t) {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-offline-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(directory, folder, { recursive: true });
  const { serve } = await import(join(folder, 'demo/serve.js'));
  const server = await serve(folder);
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const path = (name) => join(folder, 'demo', name);
  /** Changes a file; `isBuilt`: the service worker is told, as the build does, and the version of the build comes back. */
  const change = (name, from, to, { isBuilt }) => {
    const old = readFileSync(path(name), 'utf8');
    assert.ok(old.includes(from), `${name} has no ${from}`);
    const changed = old.replace(from, to);
    writeFileSync(path(name), changed);
    if (!isBuilt) return undefined;
    const digest = (text) => createHash('sha256').update(text).digest('base64');
    const script = readFileSync(path('module-server.js'), 'utf8');
    assert.ok(script.includes(digest(old)), `module-server.js does not know ${name}`);
    const version = createHash('sha256').update(changed).digest('hex').slice(0, 16);
    writeFileSync(
      path('module-server.js'),
      script.replace(digest(old), digest(changed)).replace(/version:"[0-9a-f]{16}"/, `version:"${version}"`),
    );
    return version;
  };
  change.script = () => readFileSync(path('module-server.js'), 'utf8');
  return { url: `http://127.0.0.1:${server.address().port}/demo/?fast`, change };
}

test('card_4_a_newer_build_of_the_page_is_seen_at_once_and_takes_the_place_of_what_was_kept', async (t) => {
  const { url, change } = await copied(t);
  const context = await visitor(t);
  const page = await keptTab(context, url);
  const build = change('index.html', '<title>windlass in a page</title>', '<title>built anew</title>', { isBuilt: true });
  await page.reload();
  await started(page);
  assert.equal(await page.title(), 'built anew');
  await isKept(page, new RegExp(build));
  assert.deepEqual(Object.keys(await kept(page)), [`windlass-page:${new URL('.', url)} ${build}`]);
  await context.setOffline(true);
  await page.reload();
  await started(page);
  assert.equal(await page.title(), 'built anew');
  await ask(page, 'Who are you?');
  await answered(page);
});

test('card_4_a_build_that_is_kept_is_there_while_the_newer_one_is_not_complete', async (t) => {
  const { url, change } = await copied(t);
  const context = await visitor(t);
  const page = await keptTab(context, url);
  const [old] = Object.keys(await kept(page));
  // The newer build has no file of a name that the older one needs, and one of its own is not what its list says.
  change('module-server.js', '"script.json"', '"script-of-another-build.json"', { isBuilt: false });
  change('module-server.js', /version:"[0-9a-f]{16}"/.exec(change.script())[0], 'version:"0000000000000000"', { isBuilt: false });
  await page.reload();
  await started(page);
  await (await panel(page, 'Settings')).getByText(/needs a network. script-of-another-build.json is not there/).waitFor();
  assert.ok(Object.keys(await kept(page)).includes(old));
  await context.setOffline(true);
  await page.reload();
  await started(page);
  await ask(page, 'Who are you?');
  await answered(page);
  await page.getByText('I am a script').waitFor();
});

test('card_4_files_of_two_builds_are_not_kept_as_one_page', async (t) => {
  const { url, change } = await copied(t);
  const context = await visitor(t);
  // The file is that of a build whose service worker is not there yet.
  change('script.json', 'I am a script', 'I am another script', { isBuilt: false });
  const page = await tab(context, url);
  await (await panel(page, 'Settings')).getByText('The page as it is now needs a network.').waitFor();
  await ask(page, 'Who are you?');
  await answered(page);
  await page.getByText('I am another script').waitFor();
});

test('card_4_without_service_workers_the_page_works_with_a_network', async (t) => {
  const context = await visitor(t);
  await context.addInitScript(() => Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined }));
  const page = await tab(context, site.url);
  const settings = await panel(page, 'Settings');
  await settings.getByText('The page as it is now needs a network. The browser has no service workers here').waitFor();
  await ask(page, 'Who are you?');
  await answered(page);
  assert.deepEqual(page.faults, []);
});
