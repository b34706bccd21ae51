/** MCP servers that a person adds to the demo page: what they answer, what they offer, and where a header goes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpServer, Server, tools } from './mcp/server.js';
import { KEY, modelServer } from './page/model-server.js';
import { answered, ask, askServer, calls, onlyAlert, open, panel, question, started, tab } from './page/visit.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

const SECRET = 'Bearer of-the-person';

async function visitor(t) {
  const context = await site.visitor();
  t.after(() => context.close());
  const scripts = [];
  context.on('request', (request) => {
    // The service worker loads all of them, to keep them.
    if (!request.serviceWorker()) scripts.push(request.url());
  });
  return Object.assign(await tab(context, site.url), { isLoaded: () => scripts.some((url) => url.includes('/mcp-')) });
}

/** A server that ends with the test. */
async function ending(t, server) {
  t.after(() => server.stop());
  return server;
}

/** Adds a server by the form; gives its card. */
async function add(page, { name, url, header, value }) {
  const servers = await panel(page, 'MCP');
  const form = servers.getByRole('form', { name: 'Add a server' });
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Address').fill(url);
  await form.getByLabel('A header').fill(header ?? '');
  if (header) await form.getByLabel('Value').fill(value);
  await form.getByRole('button', { name: 'Add' }).click();
  return servers.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
}

test('card_4_a_server_that_was_added_shows_its_tools_and_each_call_is_asked_about', async (t) => {
  const server = await ending(t, await Server.start());
  const model = await modelServer('answers', { name: 'mcp__tester__add', input: { a: 1, b: 2 } });
  t.after(() => model.close());
  const page = await visitor(t);
  assert.equal(page.isLoaded(), false, 'the client was loaded at the start');
  const card = await add(page, { name: 'tester', url: server.url });
  await card.getByText('connected', { exact: true }).waitFor();
  await card.getByText('tester 1.2.3').waitFor();
  await card.getByText('5 tools').click();
  await card.getByText('mcp__tester__add').waitFor();
  await card.getByText('says that it only reads').first().waitFor();
  await askServer(page, model.url, KEY);
  await ask(page, 'Good morning');
  const asked = question(page, 'mcp__tester__add');
  assert.deepEqual(JSON.parse(await asked.getByRole('group', { name: 'Input of mcp__tester__add' }).textContent()), { a: 1, b: 2 });
  await asked.getByRole('button', { name: 'Allow always: mcp__tester__add' }).click();
  await answered(page);
  assert.deepEqual(await calls(page), ['mcp__tester__add done']);
  const rule = page.getByRole('tabpanel', { name: 'Settings' }).getByText('mcp__tester__add', { exact: true });
  await rule.waitFor();
  await page.locator('.call summary').click();
  assert.match(await page.getByRole('group', { name: 'Result of mcp__tester__add' }).textContent(), /3/);
  // It is there again after the page was loaded anew, and can be removed.
  await page.reload();
  await started(page);
  const servers = await panel(page, 'MCP');
  await servers.getByText('tester', { exact: true }).waitFor();
  await servers.getByRole('button', { name: 'Connect again to tester' }).click();
  await servers.getByText('connected', { exact: true }).waitFor();
  await servers.getByRole('button', { name: 'Remove the server tester' }).click();
  await servers.getByText('None yet.').waitFor();
  // Another server of this name is another one.
  await panel(page, 'Settings');
  assert.equal(await rule.count(), 0);
  await ask(page, 'Good morning');
  await answered(page, 2);
  assert.deepEqual(page.faults, []);
});

test('card_4_a_header_for_a_server_goes_there_and_is_kept_nowhere', async (t) => {
  const server = await ending(t, await Server.start(tools, { authorization: SECRET }));
  const model = await modelServer('answers', 'Good morning.');
  t.after(() => model.close());
  const page = await visitor(t);
  const without = await add(page, { name: 'closed', url: server.url });
  await without.getByText('needs authorization').waitFor();
  await without.getByText('lets nobody in without authorization (401)').waitFor();
  await without.getByRole('button', { name: 'Remove' }).click();
  const card = await add(page, { name: 'closed', url: server.url, header: 'Authorization', value: SECRET });
  await card.getByText('connected', { exact: true }).waitFor();
  await askServer(page, model.url, KEY);
  await ask(page, 'Good morning');
  await answered(page);
  assert.equal(JSON.stringify(model.requests).includes('of-the-person'), false);
  assert.ok(server.requests.some(({ headers }) => headers.authorization === SECRET));
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  assert.match(kept, /closed/);
  assert.doesNotMatch(kept, /of-the-person/);
  await page.reload();
  await started(page);
  const servers = await panel(page, 'MCP');
  await servers.getByText('needs its header').waitFor();
  // Until then sessions go on without it.
  await (await panel(page, 'Settings')).getByLabel('A script, without a network').check();
  await ask(page, 'Who are you?');
  await answered(page, 2);
  await panel(page, 'MCP');
  await servers.getByLabel('Value of Authorization').fill(SECRET);
  await servers.getByRole('button', { name: 'Connect', exact: true }).click();
  await servers.getByText('connected', { exact: true }).waitFor();
});

test('card_4_a_server_that_leads_elsewhere_takes_no_header_there', async (t) => {
  const elsewhere = await ending(t, await HttpServer.start((request, response) => response.end('{}')));
  const leads = await ending(t, await HttpServer.start((request, response) => response.writeHead(307, { location: elsewhere.url }).end()));
  const page = await visitor(t);
  const card = await add(page, { name: 'leads', url: leads.url, header: 'X-Key', value: 'of-the-person' });
  await card.getByText('leads to another address, which is not followed').waitFor();
  assert.deepEqual(elsewhere.requests, []);
});

test('card_4_a_server_that_cannot_be_reached_or_meant_is_told_and_sessions_go_on', async (t) => {
  // One that knows nothing of pages.
  const closed = await ending(t, await HttpServer.start((request, response) => response.end('{}'), {}));
  const page = await visitor(t);
  const card = await add(page, { name: 'closed', url: closed.url });
  await card.getByText('failed', { exact: true }).waitFor();
  await card.getByText(/cannot reach .*CORS/).waitFor();
  const refused = [
    [{ name: 'two words', url: closed.url }, 'The name is made of letters'],
    [{ name: 'Closed', url: closed.url }, 'There is a server Closed already.'],
    [{ name: 'other', url: 'docs.example.com' }, 'begins with https:// or http://'],
    [{ name: 'other', url: 'https://me:secret@docs.example.com/' }, 'no name and password'],
    [{ name: 'other', url: 'http://docs.example.com/', header: 'X-Key', value: 'x' }, 'by https, or to this machine'],
    [{ name: 'other', url: 'http://127.0.0.1.example.com/', header: 'X-Key', value: 'x' }, 'by https, or to this machine'],
    [{ name: 'other', url: closed.url, header: 'Cookie', value: 'x' }, 'do not let pages send the header Cookie'],
    [{ name: 'other', url: closed.url, header: 'no name', value: 'x' }, 'cannot be a header'],
  ];
  for (const [given, why] of refused) {
    await add(page, given);
    await onlyAlert(page, why);
  }
  assert.equal(await page.getByRole('tabpanel', { name: 'MCP' }).getByRole('listitem').count(), 1);
  await ask(page, 'Who are you?');
  await answered(page);
  await page.getByText('I am a script').waitFor();
  const told = page.locator('.note.bad');
  await told.getByText('The MCP server closed is not connected, so this session goes on without its tools.').waitFor();
});
