/** The demo page, as a person uses it: asks, answers questions, stops, edits, comes back, forks, looks back. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answered, ask, calls, editor, open, panel, question, started, tab, triedUntilOpen } from './page/visit.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

/** A test in a browser of its own person, in which nothing unexpected happens. */
function visit(name, work, options) {
  test(name, async () => {
    const context = await site.visitor(options);
    const page = await tab(context, site.url);
    await work(page, context);
    assert.deepEqual(page.faults, []);
    await context.close();
  });
}

visit('card_4_a_call_that_was_allowed_always_is_not_asked_about_again', async (page) => {
  await page.getByRole('button', { name: 'Fix the failing tests' }).click();
  const bash = question(page, 'Bash');
  await bash.getByText('no permission rule covers it').waitFor();
  assert.equal(await bash.locator('pre').textContent(), 'python3 -m unittest -q');
  await bash.getByRole('button', { name: 'Allow always: Bash(python3 -m unittest -q)' }).click();
  const edit = question(page, 'Edit');
  await edit.getByText('bisect_right').waitFor();
  await edit.getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  // The second run of the tests was not asked about.
  assert.deepEqual(await calls(page), [
    'Bash failed', 'Read done', 'Grep done', 'Glob done', 'Read done', 'Read done', 'Edit done', 'Bash done',
  ]);
  await page.getByText('All 10 tests pass.').waitFor();
  await page.getByText('done · 6 turns').waitFor();
  // The rule stands in the settings, holds for the sessions to come, and can be taken back.
  const settings = await panel(page, 'Settings');
  await settings.getByText('Bash(python3 -m unittest -q)').waitFor();
  await (await panel(page, 'Sessions')).getByRole('button', { name: 'New session' }).click();
  await ask(page, 'Fix the failing tests');
  await answered(page);
  assert.deepEqual(await calls(page), ['Bash done']);
  await (await panel(page, 'Settings')).getByRole('button', { name: 'Remove the rule Bash(python3 -m unittest -q)' }).click();
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').waitFor();
});

visit('card_4_the_timeline_says_of_each_call_that_ran_unasked_why', async (page) => {
  await page.getByRole('button', { name: 'Fix the failing tests' }).click();
  await question(page, 'Bash').getByRole('button', { name: 'Allow always: Bash(python3 -m unittest -q)' }).click();
  await question(page, 'Edit').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  const steps = await (await panel(page, 'Timeline')).locator('.step').allTextContents();
  const all = steps.join('\n');
  for (const part of [
    /Read may run.*Because reading inside the workspace is free/,
    /Read answered.*Ran unasked: reading inside the workspace is free/,
    /Bash may run.*Because the rule Bash\(python3 -m unittest -q\) .*says so/,
  ]) assert.match(all, part);
  const first = (start) => steps.findIndex((step) => step.startsWith(start));
  assert.ok(first('Model:') < first('Read may run') && first('Read may run') < first('Read answered'), all);
  // The person was asked about the change, so that its cause is the answer.
  assert.ok(!steps.some((step) => step.startsWith('Edit may run')), all);
});

visit('card_4_a_denied_call_does_not_run_and_the_model_is_told_why', async (page) => {
  await ask(page, 'Write a changelog');
  const write = question(page, 'Write');
  await write.getByText('+ # Changelog').waitFor();
  await write.getByLabel('What the model is told if you deny it').fill('No changelogs here.');
  await write.getByRole('button', { name: 'Deny' }).click();
  await answered(page);
  assert.deepEqual(await calls(page), ['Write denied by you']);
  await page.locator('.call').getByText('You denied it: No changelogs here.').waitFor();
  await page.getByText('That was refused').waitFor();
  // What the model thought is folded.
  const thought = page.getByText('The project has no CHANGELOG.md yet. One entry');
  assert.equal(await thought.isVisible(), false);
  await page.getByText('Thinking', { exact: true }).click();
  await thought.waitFor();
  const files = await panel(page, 'Files');
  assert.equal(await files.getByRole('button', { name: 'CHANGELOG.md' }).count(), 0);
});

visit('card_4_a_mode_that_was_chosen_in_a_question_holds', async (page) => {
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow always: mode acceptEdits' }).click();
  await answered(page);
  await (await panel(page, 'Files')).getByRole('button', { name: 'CHANGELOG.md' }).click();
  assert.match(await editor(page, 'CHANGELOG.md').inputValue(), /first copy of its tier/);
  assert.equal(await (await panel(page, 'Settings')).getByLabel('Mode').inputValue(), 'acceptEdits');
});

visit('card_4_a_hook_refuses_and_says_why', async (page) => {
  await ask(page, 'Change the test instead');
  await answered(page);
  assert.deepEqual(await calls(page), ['Edit failed']);
  await page.getByText('A hook of this page refuses changes').waitFor();
  const timeline = await panel(page, 'Timeline');
  const step = timeline.getByRole('button', { name: 'Hook PreToolUse:Edit: deny' });
  assert.match(await step.textContent(), /the tests of this project stay as they are/);
});

visit('card_4_an_answer_is_stopped_and_the_session_goes_on', async (page) => {
  await ask(page, 'Stop in the middle');
  await page.getByText('in the middle of a sentence').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await answered(page);
  await page.getByText('You stopped it here.').waitFor();
  await page.getByText('cut off here, and not kept').waitFor();
  // Also while a question waits.
  await ask(page, 'Write a changelog');
  await question(page, 'Write').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await answered(page, 2);
  assert.equal(await question(page, 'Write').count(), 0);
  await ask(page, 'Who are you?');
  await answered(page, 3);
  await page.getByText('I am a script').waitFor();
});

visit('card_4_the_agent_and_the_person_edit_the_same_files', async (page) => {
  const files = await panel(page, 'Files');
  await files.getByRole('button', { name: 'discounts.py', exact: true }).click();
  const code = editor(page, 'shop/discounts.py');
  const text = await code.inputValue();
  assert.match(text, /bisect_left/);
  await code.fill(text.replace('bisect.bisect_left', 'bisect.bisect_right'));
  await code.press('Control+s');
  // The repair is the person's, so the tests pass at once.
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  assert.deepEqual(await calls(page), ['Bash done']);
  // And it is there after the page was loaded again.
  await page.reload();
  await started(page);
  await page.getByRole('button', { name: 'discounts.py', exact: true }).click();
  assert.match(await editor(page, 'shop/discounts.py').inputValue(), /bisect_right/);
  await page.getByLabel('Path of a new file').fill('notes/today.md');
  await page.getByRole('button', { name: 'New file' }).click();
  await editor(page, 'notes/today.md').fill('Sold out.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'today.md' }).waitFor();
  // Another tab has it as well.
  const other = await tab(page.context(), site.url);
  await other.getByRole('button', { name: 'today.md' }).click();
  assert.equal(await editor(other, 'notes/today.md').inputValue(), 'Sold out.');
});

visit('card_4_what_the_agent_writes_takes_no_text_of_the_person_away', async (page) => {
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await question(page, 'Edit').waitFor();
  await page.getByRole('button', { name: 'discounts.py', exact: true }).click();
  await editor(page, 'shop/discounts.py').fill('Mine.');
  await question(page, 'Edit').getByRole('button', { name: 'Allow once' }).click();
  await page.getByRole('alert').getByText('The agent has changed this file').waitFor();
  assert.equal(await editor(page, 'shop/discounts.py').inputValue(), 'Mine.');
  await page.getByRole('button', { name: 'Take the agent’s' }).click();
  assert.match(await editor(page, 'shop/discounts.py').inputValue(), /bisect_right\(_STARTS/);
});

visit('card_4_a_session_is_there_again_after_the_page_was_loaded_anew', async (page) => {
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  const cost = await page.locator('.meter').textContent();
  await page.reload();
  await started(page);
  assert.deepEqual(await calls(page), ['Write done']);
  assert.equal(await page.locator('.meter').textContent(), cost);
  await ask(page, 'Who are you?');
  await answered(page, 2);
  const sessions = await panel(page, 'Sessions');
  await sessions.getByRole('listitem').waitFor();
  await sessions.getByRole('button', { name: /^Fork Write a changelog/ }).click();
  await page.getByText('A fork of session').waitFor();
  await ask(page, 'In the copy');
  await answered(page, 3);
  await sessions.getByRole('listitem').nth(1).waitFor();
  // The origin has not got what the copy has.
  await sessions.locator('.open').nth(1).click();
  await page.locator('.end').nth(2).waitFor({ state: 'detached' });
  assert.equal(await page.locator('.prompt').count(), 2);
  await sessions.getByRole('button', { name: /^Delete/ }).first().click();
  await sessions.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
});

visit('card_4_a_tab_that_was_closed_while_a_person_was_asked_goes_on_with_the_question', async (page, context) => {
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await question(page, 'Edit').waitFor();
  const url = page.url();
  await page.close();
  const again = await tab(context, url);
  await triedUntilOpen(again);
  await again.getByText('The tab was closed in the middle of this answer').waitFor();
  await again.getByRole('button', { name: 'Go on' }).click();
  // The question itself, and nothing that came before it: nobody has said anything new.
  await question(again, 'Edit').getByRole('button', { name: 'Allow once' }).click();
  await question(again, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await answered(again);
  await again.getByText('All 10 tests pass.').waitFor();
  const before = ['Bash failed', 'Read done', 'Grep done', 'Glob done', 'Read done', 'Read done'];
  assert.deepEqual(await calls(again), [...before, 'Edit done', 'Bash done']);
  assert.equal(await again.locator('.prompt').count(), 1);
  assert.deepEqual(again.faults, []);
});

visit('card_4_a_tab_that_was_closed_in_the_middle_of_a_stream_goes_on_with_the_answer', async (page, context) => {
  await ask(page, 'Stop in the middle');
  await page.getByText('in the middle of a sentence').waitFor();
  const url = page.url();
  await page.close();
  const again = await tab(context, url);
  await triedUntilOpen(again);
  await again.getByText('The tab was closed in the middle of this answer').waitFor();
  await again.getByRole('button', { name: 'Go on' }).click();
  // The model is asked the same once more; what it says is stopped this time.
  await again.getByText('in the middle of a sentence').waitFor();
  await again.getByRole('button', { name: 'Stop' }).click();
  await answered(again);
  assert.equal(await again.locator('.prompt').count(), 1);
  await ask(again, 'Who are you?');
  await answered(again, 2);
  assert.deepEqual(again.faults, []);
});

visit('card_4_another_session_can_be_taken_while_a_question_waits', async (page) => {
  await ask(page, 'Write a changelog');
  await question(page, 'Write').waitFor();
  const sessions = await panel(page, 'Sessions');
  await sessions.getByRole('button', { name: 'New session' }).click();
  await page.getByText('An agent in this tab').waitFor();
  await ask(page, 'Who are you?');
  await answered(page);
  assert.equal(await page.locator('.prompt').count(), 1);
  await sessions.getByRole('button', { name: /^Write a changelog/ }).click();
  await page.getByText('You stopped it here.').waitFor();
  assert.deepEqual(await calls(page), ['Write denied by you']);
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
  await answered(page, 2);
});

visit('card_4_a_session_without_a_journal_shows_what_its_transcript_tells', async (page) => {
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  const tokens = await page.locator('.meter dd').nth(1).textContent();
  await page.evaluate(async () => {
    const database = await new Promise((resolve) => {
      const request = indexedDB.open('windlass-demo');
      request.onsuccess = () => resolve(request.result);
    });
    await new Promise((resolve) => {
      database.transaction('journals', 'readwrite').objectStore('journals').clear().onsuccess = resolve;
    });
    database.close();
  });
  await page.reload();
  await started(page);
  assert.deepEqual(await calls(page), ['Write done']);
  assert.equal(await page.locator('.meter dd').nth(1).textContent(), tokens);
  assert.equal(await page.getByRole('button', { name: 'Go on' }).count(), 0);
  await ask(page, 'Who are you?');
  await answered(page);
  await page.reload();
  await started(page);
  assert.equal(await page.locator('.prompt').count(), 2);
});

visit('card_4_a_fork_stays_one_when_settings_change_before_its_first_prompt', async (page) => {
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
  await (await panel(page, 'Sessions')).getByRole('button', { name: /^Fork/ }).click();
  await page.getByText('A fork of session').waitFor();
  await (await panel(page, 'Settings')).getByLabel('A hook refuses').uncheck();
  await ask(page, 'Who are you?');
  await answered(page, 2);
  // Its transcript begins with the prompt of its origin.
  await (await panel(page, 'Sessions')).getByRole('button', { name: /^Fork Write a changelog/ }).nth(1).waitFor();
});

visit('card_4_a_session_has_one_tab_and_the_other_forks_it', async (page, context) => {
  await ask(page, 'Who are you?');
  await answered(page);
  const other = await tab(context, page.url());
  const told = other.getByRole('alert');
  await told.getByText('open in another tab').waitFor();
  assert.equal(await told.count(), 1);
  await told.getByRole('button', { name: 'Go on in a fork' }).click();
  await ask(other, 'In the copy');
  await answered(other, 2);
  // Or it waits until the first one is closed.
  const third = await tab(context, page.url());
  await third.getByText('open in another tab').waitFor();
  await page.close();
  await triedUntilOpen(third);
  await ask(third, 'And now?');
  await answered(third, 2);
});

visit('card_4_the_timeline_shows_every_step_and_why_and_any_of_them_can_be_forked', async (page) => {
  await ask(page, 'Answer although the server is overloaded');
  await answered(page);
  await ask(page, 'Write a changelog');
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).click();
  await answered(page, 2);
  const timeline = await panel(page, 'Timeline');
  const steps = timeline.locator('.step');
  const all = (await steps.allTextContents()).join('\n');
  for (const part of [
    /Retry 1 of 3 after \d+ ms.*Overloaded/,
    /Question: may Write run\?.*Asked because no permission rule covers it/,
    /Allowed by you, once.*No rule was written/,
    /Write answered.*Ran because you allowed it once/,
    /Answer complete.*turns · \$/,
  ]) assert.match(all, part);
  // Back to the question: it stands there, and what came later does not.
  await steps.filter({ hasText: 'Question: may Write run?' }).click();
  await page.getByText('You see step').waitFor();
  assert.deepEqual(await calls(page), ['Write waits for you']);
  const slider = timeline.getByRole('slider');
  await slider.press('ArrowRight');
  await slider.press('ArrowRight');
  assert.deepEqual(await calls(page), ['Write done']);
  await timeline.getByRole('button', { name: 'Fork from here' }).click();
  await page.getByText('A fork of session').waitFor();
  await ask(page, 'Who are you?');
  await answered(page, 2);
});
