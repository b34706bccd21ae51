/** What goes wrong around the demo page: each shows one clear message, and nothing is lost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answered, ask, askServer, onlyAlert, open, panel, question, started, tab } from './page/visit.js';
import { KEY, modelServer } from './page/model-server.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

/** A server that ends with the test, however that ends. */
async function serverFor(t, manner, content) {
  const server = await modelServer(manner, content);
  t.after(() => server.close());
  return server;
}

test('card_4_a_key_of_the_visitor_is_used_and_never_kept', async (t) => {
  const server = await serverFor(t, 'answers');
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await askServer(page, server.url, 'sk-wrong');
  await ask(page, 'Good morning');
  await onlyAlert(page, 'The server refused the key');
  // The key is corrected, and the same session goes on.
  await page.getByLabel('Your key').fill(KEY);
  await ask(page, 'Good morning');
  await page.getByText('Good morning from the server.').waitFor();
  await answered(page, 2);
  assert.equal(server.requests.at(-1).headers['anthropic-dangerous-direct-browser-access'], 'true');
  assert.match(await page.locator('.meter').textContent(), /75 %/);
  const kept = await page.evaluate(async () => {
    const texts = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })];
    for (const { name } of await indexedDB.databases()) {
      const database = await new Promise((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
      });
      for (const table of database.objectStoreNames) {
        const all = await new Promise((resolve) => {
          const request = database.transaction(table).objectStore(table).getAll();
          request.onsuccess = () => resolve(request.result);
        });
        texts.push(JSON.stringify(all, (_, value) => (value instanceof Uint8Array ? new TextDecoder().decode(value) : value)));
      }
      database.close();
    }
    return texts.join();
  });
  assert.match(kept, /Good morning from the server/);
  assert.doesNotMatch(kept, new RegExp(`${KEY}|sk-wrong`));
  await page.reload();
  await started(page);
  await (await panel(page, 'Settings')).getByLabel('Your key').waitFor();
  assert.equal(await page.getByLabel('Your key').inputValue(), '');
  await context.close();
});

test('card_4_a_server_that_refuses_pages_is_told_apart_from_the_session', async (t) => {
  const server = await serverFor(t, 'refuses-pages');
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await onlyAlert(page, `No answer from ${server.url}.`);
  await page.getByText('does not allow pages of other origins').waitFor();
  // The prompt is there, and the scripted model answers in the same session.
  await page.getByLabel('A script, without a network').check();
  await ask(page, 'Who are you?');
  await answered(page, 2);
  await context.close();
});

test('card_4_a_connection_that_breaks_in_the_middle_loses_nothing', async (t) => {
  const server = await serverFor(t, 'breaks');
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await ask(page, 'Who are you?');
  await answered(page);
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await onlyAlert(page, 'The connection broke in the middle of the answer');
  assert.equal(server.requests.length, 4);
  await page.getByText('Asked again in').first().waitFor();
  await page.reload();
  await started(page);
  assert.deepEqual(await page.locator('.prompt').allTextContents(), ['You: Who are you?', 'You: Good morning']);
  await context.close();
});

test('card_4_a_session_that_has_cost_its_budget_says_so', async (t) => {
  const server = await serverFor(t, 'answers', { name: 'Read', input: { file_path: '/shop/README.md' } });
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await askServer(page, server.url, KEY);
  await page.getByLabel('What a session may cost').fill('0.000001');
  await ask(page, 'Good morning');
  await onlyAlert(page, 'The session has cost more than its budget of $0.000001.');
  assert.equal(server.requests.length, 1);
  await context.close();
});

test('card_4_what_a_model_writes_becomes_no_markup', async (t) => {
  const text = 'Look: <img src="x" onerror="globalThis.ran = true"> [here](javascript:globalThis.ran=true) and [there](https://example.com/).';
  const server = await serverFor(t, 'answers', text);
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await answered(page);
  await page.getByText('<img src="x" onerror="globalThis.ran = true">').waitFor();
  const links = page.locator('.text a');
  assert.deepEqual(await links.evaluateAll((found) => found.map(({ href, rel }) => [href, rel])), [['https://example.com/', 'noopener noreferrer']]);
  assert.equal(await page.locator('.text img').count(), 0);
  assert.equal(await page.evaluate(() => globalThis.ran), undefined);
  await context.close();
});

test('card_4_a_question_hides_nothing_of_a_call', async (t) => {
  const input = { command: 'ls \u202e#txt.exe\u0007', timeout: 5 };
  const server = await serverFor(t, 'answers', { name: 'Bash', input });
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  const asked = question(page, 'Bash');
  assert.equal(await asked.getByRole('group', { name: 'Command of Bash' }).textContent(), 'ls \\u{202e}#txt.exe\\u{7}');
  const rest = await asked.getByRole('group', { name: 'Input of Bash' }).textContent();
  assert.deepEqual(JSON.parse(rest), { timeout: 5 });
  await asked.getByRole('button', { name: 'Deny' }).click();
  await answered(page);
  await context.close();
});

test('card_4_without_storage_the_page_works_and_says_what_is_not_kept', async () => {
  const context = await site.visitor();
  await context.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('storage is switched off', 'SecurityError');
    };
  });
  const page = await tab(context, site.url);
  await ask(page, 'Who are you?');
  await answered(page);
  await (await panel(page, 'Sessions')).getByText('does not let the page keep anything').waitFor();
  await page.getByRole('button', { name: /^Who are you/ }).waitFor();
  await context.close();
});

test('card_4_storage_that_is_full_is_told', async () => {
  const context = await site.visitor();
  const page = await tab(context, site.url);
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('no room', 'QuotaExceededError');
    };
  });
  await ask(page, 'Who are you?');
  await onlyAlert(page, 'The browser has no room left for this page');
  await context.close();
});

test('card_4_a_page_whose_modules_cannot_be_loaded_says_so', async () => {
  const context = await site.visitor();
  await context.route('**/page.js', (route) => route.abort());
  const page = await context.newPage();
  await page.goto(site.url);
  await page.getByText('the modules of the page could not be loaded').waitFor();
  await context.unroute('**/page.js');
  await context.route('**/*_bg.wasm', (route) => route.abort());
  await page.goto(site.url);
  await page.getByRole('alert').getByText('The page cannot start').waitFor();
  await context.close();
  const without = await site.visitor({ javaScriptEnabled: false });
  const plain = await without.newPage();
  await plain.goto(site.url);
  await plain.getByText('If this text stays').waitFor();
  assert.match(await plain.content(), /<noscript><p>.*needs JavaScript to be switched on/);
  await without.close();
});
