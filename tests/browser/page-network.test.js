/** Components on the demo page that send requests, use secrets and need WASI: each has what it was granted, and no secret is shown. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { HttpServer } from './mcp/server.js';
import { openServer } from './network/server.js';
import { KEY, modelServer } from './page/model-server.js';
import { redeclared } from './page/redeclared.js';
import { answered, ask, askServer, choose, components, onlyAlert, open, panel, question, started, tab } from './page/visit.js';

let site;
before(async () => {
  assert.ok(components, '$WINDLASS_PAGE_COMPONENTS names the folder of the components');
  site = await open();
});
after(() => site.close());

const TOKEN = 'a-token-of-the-person';

/** A tab in which nothing goes wrong; `loads` says whether it has asked for a file whose name has this in it. */
async function visitor(t) {
  const context = await site.visitor();
  t.after(() => context.close());
  const asked = [];
  context.on('request', (request) => {
    // The service worker loads all of them, to keep them.
    if (!request.serviceWorker()) asked.push(request.url());
  });
  const page = await tab(context, site.url);
  t.after(() => assert.deepEqual(page.faults, []));
  return Object.assign(page, { loads: (name) => asked.some((url) => url.includes(name)) });
}

/** The component that sends requests, made for a server of the test. */
async function connectedTo(origin) {
  const component = await readFile(`${components}/connected.wasm`);
  const buffer = redeclared(component, ({ grants, ...declaration }) => ({
    ...declaration,
    name: 'connected',
    grants: { ...grants, http: [{ origin, methods: ['GET', 'POST'] }], secrets: [{ ...grants.secrets[0], audience: [origin] }] },
  }));
  return { name: 'connected.wasm', mimeType: 'application/wasm', buffer };
}

/** Has the model call a tool in a new session, and allows it; gives what the tool answered. */
async function called(page, t, name, input) {
  const model = await modelServer('answers', { name, input });
  t.after(() => model.close());
  await askServer(page, model.url, KEY);
  await (await panel(page, 'Sessions')).getByRole('button', { name: 'New session' }).click();
  await ask(page, 'Good morning');
  await question(page, name).getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  await page.locator('.call summary').click();
  const answer = await page.getByRole('group', { name: `Result of ${name}` }).textContent();
  return { answer, requests: model.requests };
}

async function load(form) {
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await form.waitFor({ state: 'detached' });
}

async function remove(page) {
  await (await panel(page, 'Components')).getByRole('button', { name: 'Remove connected' }).click();
}

test('card_4_a_component_sends_requests_to_origins_that_were_granted_and_to_no_others', async (t) => {
  const server = await openServer();
  t.after(() => server.close());
  const page = await visitor(t);
  const form = page.getByRole('form', { name: 'connected asks' });
  const use = (how, path) => called(page, t, 'Use', { how, url: `${server.origin}${path}` });

  await choose(page, await connectedTo(server.origin));
  await form.getByText(`requests to ${server.origin}: GET, POST`).waitFor();
  await form.getByText('It follows no redirect, and the server has to let this page read its answers (CORS)').waitFor();
  assert.equal(await form.getByRole('checkbox', { checked: true }).count(), 0);
  await load(form);
  await page.getByText('Granted nothing.').waitFor();
  assert.match((await use('get', '/large?bytes=5')).answer, /granted no network/);
  assert.deepEqual(server.seen, []);

  await remove(page);
  await choose(page, await connectedTo(server.origin));
  assert.equal(await form.getByRole('checkbox', { checked: true }).count(), 0);
  await form.getByLabel(`GET to ${server.origin}`).check();
  await load(form);
  await page.getByText(`Granted GET to ${server.origin}.`).waitFor();
  assert.equal((await use('get', '/large?bytes=5')).answer, '200 text/plain xxxxx');
  assert.match((await use('post', '/body')).answer, /not granted this origin with this method/);
  assert.match((await use('get', `/redirect?to=${server.origin}/body`)).answer, /redirect, which is not followed/);
  assert.match((await use('get', '/closed')).answer, /could not be reached/);
  // The person learns more than the component.
  await (await panel(page, 'Timeline')).getByText('does not let this page read its answers').first().waitFor();
  assert.deepEqual(server.seen, ['GET /large?bytes=5', `GET /redirect?to=${server.origin}/body`, 'GET /closed']);
});

test('card_4_a_secret_of_a_component_goes_to_its_audience_and_is_shown_and_kept_nowhere', async (t) => {
  const server = await HttpServer.start((request, response) => response.end(`it said ${request.headers.authorization}`), {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization',
  });
  t.after(() => server.stop());
  const { origin } = new URL(server.url);
  const sent = () => server.requests.map(({ headers }) => headers.authorization).filter(Boolean);
  const page = await visitor(t);
  const form = page.getByRole('form', { name: 'connected asks' });
  const token = form.getByLabel('The secret TOKEN: A token of the server');
  const use = () => called(page, t, 'Use', { how: 'secret', url: server.url });
  const give = async (value) => {
    await token.fill(value);
    await form.getByLabel(`GET to ${origin}`).check();
    await load(form);
    await page.getByText(`Granted GET to ${origin}, the secret TOKEN.`).waitFor();
  };

  await choose(page, await connectedTo(origin));
  assert.equal(await token.getAttribute('type'), 'password');
  await token.fill(TOKEN);
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await onlyAlert(page, `TOKEN is sent to ${origin} only: allow requests there, too`);
  await form.getByLabel(`GET to ${origin}`).check();
  await token.fill('short');
  await form.getByRole('button', { name: 'Load with this grant' }).click();
  await onlyAlert(page, 'shorter than 8 bytes');
  // Another file has a form of its own, whatever it is called.
  await choose(page, await connectedTo(origin));
  await page.waitForFunction(() => document.querySelector('#secret-TOKEN')?.value === '');
  await give(TOKEN);
  const { answer, requests } = await use();
  assert.match(answer, /it said Bearer \[key\]/);
  assert.deepEqual(sent(), [`Bearer ${TOKEN}`]);
  assert.doesNotMatch(JSON.stringify(requests), new RegExp(TOKEN));
  for (const name of ['Sessions', 'Timeline', 'Components', 'Settings']) {
    await panel(page, name);
    assert.doesNotMatch(await shown(page), new RegExp(TOKEN), name);
  }
  const kept = await page.evaluate(everythingKept);
  assert.match(kept, /it said Bearer \[key\]/);
  assert.doesNotMatch(kept, new RegExp(TOKEN));

  // It is gone with the component, and whoever loads it again gives another one.
  await remove(page);
  await choose(page, await connectedTo(origin));
  await give('another-token');
  await use();
  assert.deepEqual(sent(), [`Bearer ${TOKEN}`, 'Bearer another-token']);
  await page.reload();
  await started(page);
  const told = (await panel(page, 'Components')).getByText('drop connected again if you want to go on with it, and give it TOKEN again');
  await told.waitFor();
  // Where one goes on, and not only among the components.
  const without = page.locator('#conversation').getByText('the agent does without connected until you drop it again');
  await without.waitFor();
  await choose(page, await connectedTo(origin));
  assert.equal(await token.inputValue(), '');
  await give(TOKEN);
  await told.waitFor({ state: 'detached' });
  await without.waitFor({ state: 'detached' });
  await use();
  assert.equal(sent().at(-1), `Bearer ${TOKEN}`);
  await page.reload();
  await started(page);
  await (await panel(page, 'Components')).getByRole('button', { name: 'Go on without connected' }).click();
  await told.waitFor({ state: 'detached' });
  await page.reload();
  await started(page);
  await panel(page, 'Components');
  assert.equal(await told.count(), 0);
});

/** Everything that is drawn or typed. */
function shown(page) {
  return page.evaluate(() => {
    const typed = [...document.querySelectorAll('input, textarea')].map(({ value }) => value);
    return document.documentElement.outerHTML + typed.join();
  });
}

/** All that the browser keeps of the page, as text. */
async function everythingKept() {
  const asked = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const kept = [location.href, { ...localStorage }, { ...sessionStorage }];
  for (const { name } of await indexedDB.databases()) {
    const database = await asked(indexedDB.open(name));
    for (const store of database.objectStoreNames) kept.push(await asked(database.transaction(store).objectStore(store).getAll()));
    database.close();
  }
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) kept.push(request.url, await (await cache.match(request)).text());
  }
  return JSON.stringify(kept);
}

test('card_4_a_component_in_javascript_that_imports_wasi_is_dropped_and_used', async (t) => {
  const page = await visitor(t);
  await choose(page, `${components}/clock.wasm`);
  const form = page.getByRole('form', { name: 'clock asks' });
  await form.waitFor();
  assert.equal(page.loads('/component-'), false, 'what makes and runs components was loaded before there was one');
  await load(form);
  assert.equal(page.loads('/component-in-worker'), true);
  const before = Date.now();
  const { answer } = await called(page, t, 'Now', {});
  // The clock stands still during a call, at the time at which it began.
  assert.ok(Date.parse(answer) >= before && Date.parse(answer) <= Date.now(), `${answer}, after ${new Date(before).toISOString()}`);
});

test('card_4_a_component_that_imports_what_its_worker_does_not_have_is_not_loaded', async (t) => {
  const page = await visitor(t);
  const buffer = replaced(await readFile(`${components}/clock.wasm`), 'wasi:random/insecure-seed', 'wasi:rundom/insecure-seed');
  await choose(page, { name: 'clock.wasm', mimeType: 'application/wasm', buffer });
  await page.getByRole('button', { name: 'Load with this grant' }).click();
  await onlyAlert(page, 'imports `wasi:rundom/insecure-seed`');
  await page.getByText('None but the file tools').waitFor();
});

/** Bytes with one text in place of another one of the same length, wherever it is. */
function replaced(bytes, text, other) {
  return Buffer.from(bytes.toString('latin1').replaceAll(text, other), 'latin1');
}

test('card_4_a_component_that_asks_for_what_no_page_gives_is_refused_when_it_is_looked_at', async (t) => {
  const page = await visitor(t);
  for (const [origin, why] of [['https://*.example.com', 'which is no origin'], ['http://example.com', 'is not encrypted']]) {
    await choose(page, await connectedTo(origin));
    await onlyAlert(page, why);
    assert.equal(await page.getByRole('form', { name: 'asks' }).count(), 0);
  }
});
