/** The shell in Chromium, under a strict content security policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInPage } from './bundled-page.js';

test('a page has a shell over its files', async () => {
  const commands = ['grep -c a a.txt', "awk '{ print toupper($1) }' a.txt | sort -r | tee b.txt", 'echo "{\\"n\\": 5}" | jq .n', 'find . -name "*.txt" | sort'];
  const { result: seen, faults } = await runInPage('shell-page.js', { commands });
  assert.deepEqual(seen.results, ['2\n', 'BETA\nALPHA\n', '5\n', './a.txt\n./b.txt\n'], faults.join('\n'));
  assert.deepEqual(seen.paths, ['/work/a.txt', '/work/b.txt']);
});
