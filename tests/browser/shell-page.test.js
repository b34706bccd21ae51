/** The shell in Chromium, under a strict content security policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInPage } from './bundled-page.js';

test('a page has a shell over its files, in memory and in the storage of the browser', async () => {
  const commands = [
    'printf "alpha\\nbeta\\n" > a.txt; grep -c a a.txt',
    "awk '{ print toupper($1) }' a.txt | sort -r | tee b.txt",
    'echo "{\\"n\\": 5}" | jq .n',
    'mkdir -p d/e && mv a.txt d/e && find . -name "*.txt" | sort; rm -r d; ls',
  ];
  const { result: seen, faults } = await runInPage('shell-page.js', { commands });
  const expected = { results: ['2\n', 'BETA\nALPHA\n', '5\n', './b.txt\n./d/e/a.txt\nb.txt\n'], written: 'BETA\nALPHA\n' };
  assert.deepEqual(seen, { inMemory: expected, inStorage: expected }, faults.join('\n'));
});
