/** The contract of file systems in Chromium. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, openBrowser } from './chromium-page.js';

test('the storage of the browser and directories keep the contract, also in a Worker of a browser where only they write', async () => {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    const broken = (part, ...given) => inPage(page, 'file-systems-in-page.js', part, ...given);
    const kinds = ['memory', 'opfs', 'directory'];
    const [inWorker, ...inPages] = await Promise.all([broken('contractInWorker'), ...kinds.map((kind) => broken('contract', kind))]);
    assert.deepEqual({ inWorker, inPages }, { inWorker: [], inPages: [[], [], []] });
  } finally {
    await browser.close();
  }
});
