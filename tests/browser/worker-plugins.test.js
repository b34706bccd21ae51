/** Components that nobody trusts, in Workers of a page in Chromium. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { inPage, openBrowser } from './chromium-page.js';

let browser;
let page;
before(async () => {
  browser = await openBrowser();
  page = await browser.newPage();
});
after(() => browser?.close());

const probe = (...given) => inPage(page, 'worker/in-page.js', 'probe', ...given);

test('a component in a Worker has the files of its grant, and remembers', async () => {
  for (const opfs of [undefined, 'worker-plugins']) {
    const { results, written } = await probe(
      [
        { do: 'roots' },
        { do: 'read', path: 'a.txt' },
        { do: 'write', path: 'new.txt', content: 'by hand' },
        { do: 'read', path: 'new.txt' },
        { do: 'remember', value: 'one' },
        { do: 'remember', value: 'two' },
      ],
      { opfs },
    );
    assert.deepEqual(results, ['write /w', 'alpha', 'written', 'by hand', 'nothing', 'one']);
    assert.equal(written, 'by hand');
  }
});

test('a component in a Worker reaches nothing else', async () => {
  const { results, written } = await probe(
    [
      { do: 'read', path: '../other/b.txt' },
      { do: 'read', path: '/other/b.txt' },
      { do: 'read', path: '.env' },
      { do: 'list' },
      { do: 'write', path: 'new.txt', content: 'x' },
    ],
    { access: 'read', grant: { workspace: 'read' }, disallowedTools: ['Read(.env)'] },
  );
  assert.match(results[0], /refused/);
  assert.match(results[1], /refused/);
  assert.equal(results[2], 'refused: not-found');
  assert.equal(results[3], 'a.txt');
  assert.equal(results[4], 'refused: read-only');
  assert.equal(written, undefined);
  const none = await probe([{ do: 'roots' }], { grant: {} });
  assert.match(none.results[0], /in no directory that the tool's plugin was granted/);
  const stateless = await probe([{ do: 'remember', value: 'x' }], { grant: { workspace: 'write' } });
  assert.match(stateless.results[0], /not-granted/);
});

test('a component that never ends is stopped, the page goes on, and so does the next call', async () => {
  const { results, beats } = await probe([{ do: 'loop' }, { do: 'read', path: 'a.txt' }]);
  assert.match(results[0], /did not finish within 1000 ms and was stopped/);
  assert.equal(results[1], 'alpha');
  // On the thread of the page no timer would have fired until the end.
  assert.ok(beats > 10, `${beats}`);
  const often = await probe([{ do: 'loop' }, { do: 'loop' }, { do: 'loop' }, { do: 'roots' }]);
  assert.match(often.results[3], /had to be ended 3 times in a row/);
});

test('a component is stopped when its call is interrupted', async () => {
  const { results } = await probe([{ do: 'loop' }], { interruptAt: 0 });
  assert.doesNotMatch(results.join(), /did not finish/);
});

test('the memory of a component has the maximum that it declares', async () => {
  const { results } = await probe([{ do: 'grow', pages: 15 }, { do: 'grow', pages: 16 }]);
  assert.deepEqual(results, ['1', '-1']);
});

test('a component in a Worker logs, reports, traps and judges as elsewhere', async () => {
  const { results, told } = await probe([{ do: 'tell' }, { do: 'trap' }, { do: 'forbidden' }], { judges: true });
  assert.equal(results[0], 'told');
  assert.ok(told.includes('probe info told'), told.join());
  assert.match(results[1], /stopped in the middle of the call/);
  assert.match(results[2], /the probe forbids it/);
});

test('card_5_a_component_in_a_worker_has_seen_only_what_it_has_read', async () => {
  const digest = `sha256:${createHash('sha256').update('alpha').digest('hex')}`;
  const claiming = (deed) => ['Probe', { root: '/w', ...deed, observed: [{ path: '/w/a.txt', digest, whole: true }] }];
  const edit = ['Edit', { file_path: '/w/a.txt', old_string: 'alpha', new_string: 'omega' }];
  const unread = await inPage(page, 'worker/in-page.js', 'withFileTools', [claiming({ do: 'list' }), edit]);
  assert.match(unread.told[1], /has not been read yet/);
  assert.equal(unread.text, 'alpha');
  const read = await inPage(page, 'worker/in-page.js', 'withFileTools', [claiming({ do: 'read', path: 'a.txt' }), edit]);
  assert.equal(read.text, 'omega', read.told.join('\n'));
});

test('the file tools in a Worker have seen what they have read', async () => {
  const calls = [
    ['Read', { file_path: '/w/a.txt' }],
    ['Edit', { file_path: '/w/a.txt', old_string: 'alpha', new_string: 'omega' }],
    ['Edit', { file_path: '/w/a.txt', old_string: 'omega', new_string: 'psi' }],
    ['Read', { file_path: '/w/empty.txt' }],
    ['Write', { file_path: '/w/empty.txt', content: 'full' }],
  ];
  const { told, text, empty } = await inPage(page, 'worker/in-page.js', 'withFileTools', calls, { inWorker: true });
  assert.deepEqual([text, empty], ['psi', 'full'], told.join('\n'));
});
