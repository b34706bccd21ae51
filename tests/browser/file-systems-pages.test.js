/** File systems in Chromium: in the browser's storage, and in a real directory that is dropped on the page. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inPage as run, openBrowser } from './chromium-page.js';

const inPage = (page, part, ...given) => run(page, 'file-systems-in-page.js', part, ...given);

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

test('what an agent edits is there when the page is loaded again', async () => {
  const page = await browser.newPage();
  const written = await inPage(page, 'agentOn', 'kept', [
    ['Write', { file_path: 'src/a.txt', content: 'alpha\nbeta\n' }],
    ['Edit', { file_path: 'src/a.txt', old_string: 'beta', new_string: 'gamma' }],
  ]);
  assert.deepEqual(written.map(({ isError }) => isError), [false, false], JSON.stringify(written));
  await page.reload();
  assert.equal(await inPage(page, 'textOf', 'kept', '/project/src/a.txt'), 'alpha\ngamma\n');
  const [read, found] = await inPage(page, 'agentOn', 'kept', [
    ['Read', { file_path: 'src/a.txt' }],
    ['Grep', { pattern: 'gam', output_mode: 'content' }],
  ]);
  assert.match(read.text, /2\tgamma/);
  assert.match(found.text, /src\/a\.txt.*gamma/);
  await page.close();
});

test('the handle of a directory that the page kept opens it again', async () => {
  const page = await browser.newPage();
  await inPage(page, 'put', 'kept handle', { '/project/a.txt': 'alpha' });
  await inPage(page, 'keepHandle', 'kept handle');
  await page.reload();
  assert.equal(await inPage(page, 'openKeptHandle', '/project/a.txt'), 'alpha');
  await page.close();
});

test('where the storage is full the call says so, and nothing is lost', async () => {
  // What the other tests have written counts in their browser.
  const empty = await openBrowser();
  try {
    const page = await empty.newPage();
    await inPage(page, 'put', 'full', { '/project/a.txt': 'alpha\n' });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: empty.origin, quotaSize: 50_000 });
    const large = 'x'.repeat(100_000);
    const results = await inPage(page, 'agentOn', 'full', [
      ['Read', { file_path: 'a.txt' }],
      ['Write', { file_path: 'a.txt', content: large }],
      ['Write', { file_path: 'new.txt', content: large }],
      ['Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'omega' }],
      ['Glob', { pattern: '*' }],
    ]);
    for (const { isError, text } of [results[1], results[2]]) {
      assert.equal(isError, true, JSON.stringify(results));
      assert.match(text, /\.txt: the storage that the browser has for this page is full, or the disk is: delete what is not needed any more \(nothing was changed\)/);
    }
    assert.equal(results[3].isError, false, results[3].text);
    assert.doesNotMatch(results[4].text, /new\.txt/);
    assert.equal(await inPage(page, 'textOf', 'full', '/project/a.txt'), 'omega\n');
  } finally {
    await empty.close();
  }
});

test('a file that another tab changes during a call is not overwritten, and the model can go on', async () => {
  const page = await browser.newPage();
  await inPage(page, 'put', 'underneath', { '/project/a.txt': 'alpha\n' });
  const [, edited, again, read, last] = await inPage(page, 'changedUnderneath', 'underneath');
  assert.equal(edited.isError, true);
  assert.match(edited.text, /a\.txt is not what it was when it was read: somebody else changed it meanwhile, and nothing of this call was written\. Read it again/);
  assert.match(again.text, /changed since it was last read/);
  assert.match(read.text, /alpha of theirs/);
  assert.equal(last.isError, false, last.text);
  assert.equal(await inPage(page, 'textOf', 'underneath', '/project/a.txt'), 'omega of theirs\n');
  await page.close();
});

test('tabs that change one file at the same time lose nothing', async () => {
  const pages = [await browser.newPage(), await browser.newPage(), await browser.newPage()];
  await inPage(pages[0], 'put', 'count', { '/count': '0' });
  await Promise.all(pages.map((page) => inPage(page, 'count', 'count', 20)));
  assert.equal(await inPage(pages[0], 'textOf', 'count', '/count'), '60');
  for (const page of pages) await page.close();
});

test('a page that ends in the middle of writing leaves the old file or the new one', async () => {
  const watching = await browser.newPage();
  await inPage(watching, 'put', 'ended', { '/large': 'a'.repeat(2_000_000) });
  for (let round = 0; round < 6; round += 1) {
    const page = await browser.newPage();
    await inPage(page, 'beginLarge', 'ended', 'b', 2_000_000 + round);
    await page.close();
    const { letters, length, all } = await inPage(watching, 'lettersOf', 'ended', '/large');
    assert.equal(letters.length, 1, `round ${round}`);
    assert.ok(length >= 2_000_000, `${length}`);
    assert.deepEqual(all.sort(), ['large', 'project']);
  }
  await watching.close();
});

test('of a real directory that may be read an agent sees the files, no links, and changes nothing', async () => {
  await withDirectory(async ({ directory }) => {
    const page = await browser.newPage();
    await inPage(page, 'awaitDrop');
    await drop(page, directory);
    const { results, root, folder, refused } = await inPage(page, 'lookAtDropped');
    assert.deepEqual([root, folder, refused], [['a.txt', 'deep'], undefined, 'not-allowed']);
    assert.match(results[0].text, /1\talpha/);
    assert.deepEqual(results.map(({ isError }) => isError), [false, true, true, false, true], JSON.stringify(results));
    assert.match(results[3].text, /beta/);
    assert.doesNotMatch(JSON.stringify(results), /SECRET/);
    assert.match(results[4].text, /read/);
    assert.deepEqual((await readdir(directory)).sort(), ['a.txt', 'deep', 'folder', 'link']);
    assert.equal(await readFile(join(directory, 'a.txt'), 'utf8'), 'alpha\n');
    await page.close();
  });
});

test('in a real directory that may be written an agent changes files, and nothing through links', async () => {
  // As if the person had said yes to every question.
  const willing = await openBrowser({ preferences: { profile: { default_content_setting_values: { file_system_write_guard: 1 } } } });
  try {
    await withDirectory(async ({ directory, outside }) => {
      const page = await willing.newPage();
      await inPage(page, 'awaitDrop');
      await drop(page, directory);
      const { results, refused } = await inPage(page, 'workInDropped');
      assert.deepEqual(results.map(({ isError }) => isError), [false, false, false, true, true], JSON.stringify(results));
      assert.match(results[3].text, /\/link: .*a link/);
      assert.deepEqual(refused, ['missing', 'missing']);
      assert.equal(await readFile(join(directory, 'a.txt'), 'utf8'), 'omega\n');
      assert.equal((await stat(join(directory, 'a.txt'))).mode & 0o777, 0o750);
      assert.equal(await readFile(join(directory, 'new/b.txt'), 'utf8'), 'new');
      assert.equal(await readFile(join(directory, 'link'), 'utf8'), 'SECRET\n');
      assert.deepEqual([await readdir(outside), (await readdir(directory)).sort()], [['passwd'], ['a.txt', 'deep', 'folder', 'link', 'new']]);
    });
  } finally {
    await willing.close();
  }
});

/** A directory of this machine, with links that lead out of it. */
async function withDirectory(run) {
  const directory = await mkdtemp(join(tmpdir(), 'windlass-dropped-'));
  const outside = await mkdtemp(join(tmpdir(), 'windlass-outside-'));
  try {
    await mkdir(join(directory, 'deep'));
    await writeFile(join(directory, 'a.txt'), 'alpha\n');
    await chmod(join(directory, 'a.txt'), 0o750);
    await writeFile(join(directory, 'deep/b.txt'), 'beta\n');
    await writeFile(join(outside, 'passwd'), 'SECRET\n');
    await symlink(join(outside, 'passwd'), join(directory, 'link'));
    await symlink(outside, join(directory, 'folder'));
    await run({ directory, outside });
  } finally {
    await rm(directory, { recursive: true });
    await rm(outside, { recursive: true });
  }
}

/** Drops a directory of this machine on a page, as a person does. */
async function drop(page, directory) {
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: [directory], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop']) await devtools.send('Input.dispatchDragEvent', { type, x: 50, y: 50, data });
}
