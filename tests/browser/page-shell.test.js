/** The shell of the demo page: just-bash over the workspace, without network and programs, loaded by those who have it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { KEY, modelServer } from './page/model-server.js';
import { answered, ask, askServer, calls, editor, open, panel, question, tab } from './page/visit.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

/** A tab, and the scripts that it loads by and by. */
async function visitor(t) {
  const context = await site.visitor();
  t.after(() => context.close());
  const scripts = [];
  context.on('request', (request) => {
    // The service worker loads all of them, to keep them.
    if (!request.serviceWorker()) scripts.push(new URL(request.url()).pathname.split('/').at(-1));
  });
  const page = await tab(context, site.url);
  return { page, isLoaded: () => scripts.some((name) => name.startsWith('shell-')) };
}

/** A model that calls Bash. */
async function modelFor(t, command) {
  const server = await modelServer('answers', { name: 'Bash', input: { command } });
  t.after(() => server.close());
  return server;
}

async function result(page) {
  await page.locator('.call summary').last().click();
  return page.getByRole('group', { name: 'Result of Bash' }).last().textContent();
}

test('card_4_bash_on_the_page_runs_over_the_workspace', async (t) => {
  const { page, isLoaded } = await visitor(t);
  await page.getByText('a shell without network and programs (just-bash)').waitFor();
  assert.equal(isLoaded(), false, 'the shell was loaded at the start');
  await ask(page, 'Look around with the shell');
  const asked = question(page, 'Bash');
  assert.match(await asked.getByRole('group', { name: 'Command of Bash' }).textContent(), /^find \. -type f \|/);
  await asked.getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  assert.equal(isLoaded(), true);
  assert.match(await result(page), /\d+ py\n[^]*files in all: \d+/);

  const server = await modelFor(t, "cd shop && sed -i 's/bisect_left(_/bisect_right(_/' discounts.py && echo repaired > ../note.txt");
  await askServer(page, server.url, KEY);
  await (await panel(page, 'Sessions')).getByRole('button', { name: 'New session' }).click();
  await ask(page, 'Good morning');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  const files = await panel(page, 'Files');
  await files.getByRole('button', { name: 'note.txt' }).click();
  assert.equal(await editor(page, 'note.txt').inputValue(), 'repaired\n');
  // What of Python is recorded goes by the files that are there now.
  const python = await modelFor(t, 'python3 -m unittest -q 2>&1 | tail -n 1; python3 --version');
  await askServer(page, python.url, KEY);
  await (await panel(page, 'Sessions')).getByRole('button', { name: 'New session' }).click();
  await ask(page, 'Good morning');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  const said = await result(page);
  assert.match(said, /OK/);
  assert.match(said, /python3: not in this shell; only `python3 -m unittest -q` is/);
});

test('card_4_bash_on_the_page_has_no_network_and_no_programs', async (t) => {
  const { page } = await visitor(t);
  const canary = await modelServer('answers');
  t.after(() => canary.close());
  const server = await modelFor(t, `curl -s ${canary.url}; wget ${canary.url}; node -e 1; exec 3<>/dev/tcp/127.0.0.1/80`);
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  const said = await result(page);
  for (const program of ['curl', 'wget', 'node']) assert.match(said, new RegExp(`${program}: command not (found|available)`));
  assert.deepEqual(canary.requests, []);
});

test('card_4_without_the_shell_no_session_loads_or_has_it', async (t) => {
  const { page, isLoaded } = await visitor(t);
  await (await panel(page, 'Settings')).getByRole('checkbox', { name: 'Bash' }).uncheck();
  await page.getByRole('button', { name: 'Fix the failing tests' }).waitFor({ state: 'detached' });
  const server = await modelFor(t, 'ls');
  await askServer(page, server.url, KEY);
  await ask(page, 'Good morning');
  await answered(page);
  assert.deepEqual(await calls(page), ['Bash failed']);
  assert.equal(isLoaded(), false);
});
