/** On which files the agent of the demo page works: the bookshop in memory, the storage of the browser, a directory of the disk. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answered, ask, calls, editor, onlyAlert, open, panel, question, started, tab, triedUntilOpen, workOn } from './page/visit.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

const STORED = 'Files in this browser';

function visit(name, work, prepare = async () => {}) {
  test(name, async () => {
    const context = await site.visitor();
    await prepare(context);
    const page = await tab(context, site.url);
    await work(page, context);
    assert.deepEqual(page.faults, []);
    await context.close();
  });
}

/** The model writes a file. */
async function writeChangelog(page) {
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
}

visit('card_4_files_in_the_storage_of_the_browser_stay_and_sessions_keep_them', async (page, context) => {
  const files = await workOn(page, STORED);
  await writeChangelog(page);
  await answered(page);
  await files.getByRole('button', { name: 'CHANGELOG.md' }).click();
  assert.match(await editor(page, 'CHANGELOG.md').inputValue(), /first copy of its tier/);
  // The tests of the copy fail, too, and are repaired.
  await ask(page, 'Fix the failing tests');
  for (const tool of ['Bash', 'Edit', 'Bash']) await question(page, tool).getByRole('button', { name: 'Allow once' }).click();
  await answered(page, 2);
  await page.getByText('All 10 tests pass.').waitFor();
  const url = page.url();
  await page.reload();
  await started(page);
  await triedUntilOpen(page);
  await files.locator('.workspaces summary').getByText(STORED).waitFor();
  await files.getByRole('button', { name: 'CHANGELOG.md' }).waitFor();
  // The bookshop in memory is another one; it begins another session.
  await workOn(page, 'The bookshop');
  await page.getByText('An agent in this tab').waitFor();
  await files.getByRole('button', { name: 'README.md' }).waitFor();
  assert.equal(await files.getByRole('button', { name: 'CHANGELOG.md' }).count(), 0);
  await ask(page, 'Who are you?');
  await answered(page);
  await (await panel(page, 'Sessions')).getByRole('button', { name: /^Write a changelog/ }).click();
  await page.locator('.end').nth(1).waitFor();
  await (await panel(page, 'Files')).locator('.workspaces summary').getByText(STORED).waitFor();
  await files.getByRole('button', { name: 'CHANGELOG.md' }).waitFor();
  // So it does in another tab, whatever that one had.
  await page.close();
  const other = await tab(context, url);
  await triedUntilOpen(other);
  await other.locator('.workspaces summary').getByText(STORED).waitFor();
  await (await panel(other, 'Settings')).getByRole('button', { name: 'Put the files of the demonstration back' }).click();
  await other.getByText('They are as they were.').waitFor();
  await (await panel(other, 'Files')).getByRole('button', { name: 'discounts.py', exact: true }).click();
  assert.match(await editor(other, 'shop/discounts.py').inputValue(), /bisect_left/);
});

visit('card_4_what_was_allowed_on_some_files_is_asked_about_on_others', async (page) => {
  await ask(page, 'Look around with the shell');
  await question(page, 'Bash').getByRole('button', { name: 'Allow always' }).click();
  await answered(page);
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow always: mode acceptEdits' }).click();
  await answered(page, 2);
  await workOn(page, STORED);
  const settings = await panel(page, 'Settings');
  assert.equal(await settings.getByLabel('Mode').inputValue(), 'default');
  await settings.getByText('None. A question offers the rule').waitFor();
  await ask(page, 'Look around with the shell');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  await writeChangelog(page);
  await answered(page, 2);
  // There it holds.
  await workOn(page, 'The bookshop');
  await ask(page, 'Look around with the shell');
  await answered(page);
  assert.deepEqual(await calls(page), ['Bash done']);
});

visit('card_4_two_tabs_take_no_text_from_each_other', async (page, context) => {
  const open = async (tab) => {
    await (await workOn(tab, STORED)).getByRole('button', { name: 'README.md' }).click();
    await editor(tab, 'README.md').waitFor();
  };
  await open(page);
  const other = await tab(context, site.url);
  await open(other);
  await editor(other, 'README.md').fill('Theirs.');
  await editor(page, 'README.md').fill('Mine.');
  // What was not saved outlives a look at another panel.
  await panel(page, 'Settings');
  await panel(page, 'Files');
  assert.equal(await editor(page, 'README.md').inputValue(), 'Mine.');
  await other.getByRole('button', { name: 'Save' }).click();
  await onlyAlert(page, 'has changed this file since you opened it');
  assert.equal(await editor(page, 'README.md').inputValue(), 'Mine.');
  await page.getByRole('button', { name: 'Save over it' }).click();
  await page.getByText('(not saved)').waitFor({ state: 'detached' });
  // Nothing was written there, so it is shown at once.
  await other.waitForFunction(() => document.querySelector('#editor').value === 'Mine.');
});

visit('card_4_a_storage_that_is_full_loses_no_text', async (page) => {
  await (await workOn(page, STORED)).getByRole('button', { name: 'README.md' }).click();
  await editor(page, 'README.md').fill('A long text.');
  await page.evaluate(() => {
    FileSystemFileHandle.prototype.createWritable = async () => {
      throw new DOMException('no room', 'QuotaExceededError');
    };
  });
  await page.getByRole('button', { name: 'Save' }).click();
  await onlyAlert(page, 'the storage that the browser has for this page is full');
  assert.equal(await editor(page, 'README.md').inputValue(), 'A long text.');
  await page.getByText('(not saved)').waitFor();
});

visit(
  'card_4_a_browser_that_has_no_storage_for_files_says_so_and_the_session_stays',
  async (page) => {
    await ask(page, 'Who are you?');
    await answered(page);
    await page.locator('.workspaces summary').click();
    await page.getByRole('radio', { name: /^Files in this browser/ }).click();
    await onlyAlert(page, 'the browser does not open its storage for files');
    await page.locator('.workspaces summary').getByText('The bookshop').waitFor();
    assert.equal(await page.getByRole('radio', { name: /^The bookshop/ }).isChecked(), true);
    await ask(page, 'And now?');
    await answered(page, 2);
    // So it is where the storage was there when the page was used last.
    await page.evaluate(() => {
      const settings = JSON.parse(localStorage.getItem('windlass-demo-settings') ?? '{}');
      localStorage.setItem('windlass-demo-settings', JSON.stringify({ ...settings, workspace: 'browser' }));
      location.hash = '';
    });
    await page.reload();
    await started(page);
    await onlyAlert(page, 'the browser does not open its storage for files');
    await page.locator('.workspaces summary').getByText('The bookshop').waitFor();
  },
  (context) => context.addInitScript(() => {
    navigator.storage.getDirectory = async () => {
      throw new DOMException('storage is switched off', 'SecurityError');
    };
  }),
);

visit(
  'card_4_a_browser_without_directories_does_not_offer_them',
  async (page) => {
    await page.locator('.workspaces summary').click();
    await page.getByText('does not let pages work on a directory of your disk').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Pick a directory' }).count(), 0);
  },
  (context) => context.addInitScript(() => delete globalThis.showDirectoryPicker),
);

/**
 * A person who picks a directory, and a browser that asks them again after each load: no headless browser shows a picker. The handles
 * are the browser's own.
 */
function picking(context) {
  return context.addInitScript(() => {
    let permission = 'prompt';
    globalThis.showDirectoryPicker = async () => {
      if (globalThis.picksNothing) throw new DOMException('the person closed it', 'AbortError');
      const storage = await navigator.storage.getDirectory();
      const directory = await storage.getDirectoryHandle('garden', { create: true });
      const file = await directory.getFileHandle('plan.txt', { create: true });
      if ((await file.getFile()).size === 0) {
        const writing = await file.createWritable();
        await writing.write('beans\n');
        await writing.close();
      }
      permission = 'granted';
      return directory;
    };
    FileSystemHandle.prototype.queryPermission = async () => permission;
    FileSystemHandle.prototype.requestPermission = async () => {
      if (!navigator.userActivation.isActive) throw new DOMException('nobody clicked', 'SecurityError');
      if (!globalThis.saysNo) permission = 'granted';
      return globalThis.saysNo ? 'denied' : permission;
    };
  });
}

async function pick(page) {
  const files = await panel(page, 'Files');
  if (!(await files.locator('.workspaces').evaluate(({ open }) => open))) await files.locator('.workspaces summary').click();
  await files.getByRole('button', { name: 'Pick a directory' }).click();
  return files;
}

/** The text of a file in the picked directory, as another program sees it. */
function onDisk(page, name) {
  return page.evaluate(async (name) => {
    const directory = await (await navigator.storage.getDirectory()).getDirectoryHandle('garden');
    return (await (await directory.getFileHandle(name)).getFile()).text();
  }, name);
}

visit(
  'card_4_a_directory_that_the_person_picked_is_worked_on_and_asked_for_again',
  async (page) => {
    await page.evaluate(() => {
      globalThis.picksNothing = true;
    });
    const files = await pick(page);
    await page.evaluate(() => {
      globalThis.picksNothing = false;
    });
    await files.locator('.workspaces summary').getByText('The bookshop').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await pick(page);
    await files.locator('.workspaces summary').getByText('garden').waitFor();
    await files.getByRole('button', { name: 'plan.txt' }).waitFor();
    await page.getByText('knows the bookshop and not these files').waitFor();
    await writeChangelog(page);
    await answered(page);
    await page.getByText('/garden/CHANGELOG.md').first().waitFor();
    assert.match(await onDisk(page, 'CHANGELOG.md'), /first copy of its tier/);
    await ask(page, 'Look around with the shell');
    await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
    await answered(page, 2);
    await page.locator('.call').last().getByText('files in all: 2').waitFor({ state: 'attached' });

    await page.reload();
    await started(page);
    await page.getByText('The browser asks you again before the page has it').waitFor();
    // What was said is there, and nothing can be asked before.
    assert.deepEqual(await calls(page), ['Write done', 'Bash done']);
    assert.equal(await page.getByRole('textbox', { name: 'Prompt' }).count(), 0);
    await page.evaluate(() => {
      globalThis.saysNo = true;
    });
    const allow = page.getByRole('button', { name: 'Let the page have garden' });
    await allow.click();
    await onlyAlert(page, 'The browser did not let the page have garden');
    await page.evaluate(() => {
      globalThis.saysNo = false;
    });
    await allow.click();
    await files.getByRole('button', { name: 'CHANGELOG.md' }).waitFor();
    await ask(page, 'Look around with the shell');
    await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
    await answered(page, 3);
    assert.deepEqual(await calls(page), ['Write done', 'Bash done', 'Bash done']);
    // Picked again it is the same, and its files are nobody's to put back.
    await pick(page);
    await page.getByText('An agent in this tab').waitFor();
    assert.equal(await files.getByRole('radio', { name: 'garden' }).count(), 1);
    const settings = await panel(page, 'Settings');
    await settings.getByText('puts nothing back').waitFor();
    assert.equal(await settings.getByRole('button', { name: 'Put the files' }).count(), 0);
  },
  picking,
);

visit(
  'card_4_a_directory_that_is_taken_back_or_not_known_any_more_is_one_clear_message',
  async (page) => {
    const files = await pick(page);
    await files.getByRole('button', { name: 'plan.txt' }).waitFor();
    await ask(page, 'Who are you?');
    await answered(page);
    await page.evaluate(() => {
      const { entries } = FileSystemDirectoryHandle.prototype;
      FileSystemDirectoryHandle.prototype.entries = function taken() {
        if (globalThis.isBack) return entries.call(this);
        throw new DOMException('The request is not allowed by the user agent.', 'NotAllowedError');
      };
      dispatchEvent(new Event('focus'));
    });
    await page.getByRole('button', { name: 'Let the page have garden' }).waitFor();
    await page.evaluate(() => {
      globalThis.isBack = true;
    });
    await page.getByRole('button', { name: 'Let the page have garden' }).click();
    await files.getByRole('button', { name: 'plan.txt' }).waitFor();
    await ask(page, 'And now?');
    await answered(page, 2);
    await workOn(page, 'The bookshop');
    await files.locator('.workspaces summary').click();
    await files.getByRole('button', { name: 'Remove garden from this list' }).click();
    await files.getByRole('radio', { name: 'garden' }).waitFor({ state: 'detached' });
    await (await panel(page, 'Sessions')).getByRole('button', { name: /^Who are you/ }).click();
    await onlyAlert(page, 'The page does not know the directory any more');
    await page.getByText('I am a script').first().waitFor();
    assert.equal(await onDisk(page, 'plan.txt'), 'beans\n');
  },
  picking,
);
