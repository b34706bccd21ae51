/** The same bytes in Node, Chromium and workerd: of the demonstration in virtual time, and of a journal that the native host recorded. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { openBrowser } from './chromium-page.js';
import { ReplayWorker } from './edge/replay.js';
import { directory, files, load, testkit, windlass } from './package-under-test.js';
import { runDemo } from './demo-run.js';

const skip = ['linux', 'darwin'].includes(process.platform) ? false : 'there is no workerd for this platform';
let worker;
let journal;

before(async () => {
  assert.ok(process.env.WINDLASS_JOURNAL, '$WINDLASS_JOURNAL names a journal: what `windlass --record FILE` has written');
  journal = await readFile(process.env.WINDLASS_JOURNAL, 'utf8');
  if (!skip) worker = await ReplayWorker.start(directory);
});

after(() => worker?.stop());

test('card_1_the_demo_says_the_same_bytes_in_node_and_in_workerd', { skip }, async () => {
  const bundle = JSON.parse(await readFile(`${directory}/demo/bundle.json`, 'utf8'));
  Object.assign(bundle, { cwd: '/project', seed: Array(32).fill(7), options: { includePartialMessages: true, progressIntervalMs: 0 } });
  const here = [];
  const outcome = await runDemo({ windlass, files, testkit, demo: await load('demo/demo.js') }, bundle, (line) => here.push(line));
  const there = (await worker.demo(JSON.stringify(bundle))).split('\n').filter(Boolean);
  const { ms, ...last } = JSON.parse(there.pop());
  assert.deepEqual(there.map((line) => `${line}\n`), here.map((line) => `${line.trimEnd()}\n`));
  assert.deepEqual({ ...last, ms: outcome.ms }, outcome);
});

test('card_1_a_journal_of_the_native_host_replays_in_node', async () => {
  const { inputs, outputs } = await testkit.replayJournal(journal);
  assert.ok(inputs > 10 && outputs > 10, `${inputs} inputs, ${outputs} outputs`);
});

test('card_1_a_journal_of_the_native_host_replays_in_workerd', { skip }, async () => {
  assert.deepEqual(await worker.journal(journal), await testkit.replayJournal(journal));
});

test('card_1_a_journal_of_the_native_host_replays_in_chromium', async () => {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    const replay = async (journal) => (await import('/package/testkit.js')).replayJournal(journal);
    assert.deepEqual(await page.evaluate(replay, journal), await testkit.replayJournal(journal));
  } finally {
    await browser.close();
  }
});

test('card_1_a_journal_that_says_something_else_is_told_with_its_line', async () => {
  const other = journal.replace(/"num_turns":(\d+)/g, '"num_turns":1$1');
  assert.notEqual(other, journal);
  await assert.rejects(testkit.replayJournal(other), /line \d+ of the journal: expected .*, found/);
  await assert.rejects(testkit.replayJournal('{}'), /this is no windlass journal/);
});
