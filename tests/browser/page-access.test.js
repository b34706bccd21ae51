/** The demo page for everybody: by keyboard alone, light and dark, on a phone, under its policy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answered, ask, editor, open, question, started, tab } from './page/visit.js';

let site;
before(async () => {
  site = await open();
});
after(() => site.close());

const PHONE = { width: 390, height: 844 };

test('card_4_everything_can_be_done_by_keyboard', async () => {
  const context = await site.visitor();
  const page = await tab(context, site.url);
  const { keyboard } = page;
  /** Tabs on until something with this name has the focus, as a person looks for it. */
  const reach = async (name) => {
    for (let steps = 0; steps < 60; steps += 1) {
      const at = await page.evaluate(() => {
        const { activeElement: element } = document;
        if (!element.matches('button, input, textarea, select, summary')) return '';
        return element.labels?.[0]?.textContent ?? element.ariaLabel ?? element.textContent;
      });
      if (at.includes(name)) return;
      await keyboard.press('Tab');
    }
    assert.fail(`Tab does not lead to ${name}`);
  };
  await reach('Prompt');
  await keyboard.type('Write a changelog');
  await keyboard.press('Enter');
  // The question takes the focus from the prompt, which is empty.
  await question(page, 'Write').waitFor();
  await page.locator('.question h3:focus').waitFor();
  await reach('Allow once');
  await keyboard.press('Enter');
  await answered(page);
  await reach('Files');
  await keyboard.press('ArrowRight');
  await page.getByRole('tabpanel', { name: 'Timeline' }).waitFor();
  await reach('replayed from the journal');
  await keyboard.press('ArrowLeft');
  await page.getByText('You see step').waitFor();
  await reach('Back to now');
  await keyboard.press('Enter');
  await page.getByText('You see step').waitFor({ state: 'detached' });
  await reach('Timeline');
  await keyboard.press('ArrowLeft');
  // The call above is called so, too.
  await page.getByRole('button', { name: 'CHANGELOG.md' }).waitFor();
  await reach('CHANGELOG.md');
  await keyboard.press('Enter');
  await editor(page, 'CHANGELOG.md').waitFor();
  await keyboard.press('Tab');
  await reach('CHANGELOG.md');
  await keyboard.type('Mine. ');
  await page.getByText('(not saved)').waitFor();
  await keyboard.press('Control+s');
  await page.getByText('(not saved)').waitFor({ state: 'detached' });
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('card_4_colours_are_those_of_the_system_or_of_the_person', async () => {
  const context = await site.visitor({ colorScheme: 'dark' });
  const page = await tab(context, site.url);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByLabel('Colours').selectOption('light');
  await page.waitForFunction((dark) => getComputedStyle(document.body).backgroundColor !== dark, dark);
  await page.reload();
  await started(page);
  assert.notEqual(await background(), dark);
  await context.close();
});

test('card_4_on_a_phone_a_question_comes_to_the_person', async () => {
  const context = await site.visitor({ viewport: PHONE, hasTouch: true, isMobile: true });
  const page = await tab(context, site.url);
  await ask(page, 'Write a changelog');
  await page.getByRole('tab', { name: 'Settings' }).tap();
  await page.getByRole('tab', { name: 'Chat' }).tap();
  await question(page, 'Write').getByRole('button', { name: 'Allow once' }).tap();
  await answered(page);
  await context.close();
});

test('card_4_on_a_small_phone_a_question_is_seen_from_its_beginning', async () => {
  const context = await site.visitor({ viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true });
  const page = await tab(context, site.url);
  await ask(page, 'Write a changelog');
  const asked = question(page, 'Write');
  await asked.getByRole('button', { name: 'Allow once' }).waitFor();
  await page.waitForFunction(() => {
    const heading = document.querySelector('.question :is(h2, h3)').getBoundingClientRect();
    const seen = document.querySelector('#conversation .scroll').getBoundingClientRect();
    return heading.top >= seen.top && heading.bottom <= seen.bottom;
  });
  await context.close();
});

test('card_4_the_end_of_an_answer_stays_seen_where_the_room_for_it_shrinks', async () => {
  const context = await site.visitor({ viewport: PHONE, hasTouch: true, isMobile: true });
  const page = await tab(context, site.url);
  for (let count = 1; count <= 8; count += 1) {
    await ask(page, 'Who are you?');
    await answered(page, count);
  }
  const isSeen = () => {
    const end = [...document.querySelectorAll('.end')].at(-1).getBoundingClientRect();
    const seen = document.querySelector('#conversation .scroll').getBoundingClientRect();
    return end.top >= seen.top && end.bottom <= seen.bottom;
  };
  await page.waitForFunction(isSeen);
  // So much room a keyboard on the screen takes.
  await page.setViewportSize({ ...PHONE, height: PHONE.height - 300 });
  await page.waitForFunction(isSeen);
  await context.close();
});

test('card_4_the_page_runs_no_script_but_its_own', async () => {
  const context = await site.visitor();
  const page = await context.newPage();
  await page.goto(site.url);
  const ran = await page.evaluate(async () => {
    const inline = document.createElement('script');
    inline.textContent = 'globalThis.inlineRan = true';
    document.head.append(inline);
    const foreign = await import('data:text/javascript,export default 1').then(() => true, () => false);
    const blob = await import(URL.createObjectURL(new Blob(['export default 1'], { type: 'text/javascript' }))).then(() => true, () => false);
    return { inline: Boolean(globalThis.inlineRan), foreign, blob };
  });
  assert.deepEqual(ran, { inline: false, foreign: false, blob: false });
  // Nor do the Workers of components.
  const said = await page.evaluate(() => new Promise((resolve) => {
    const worker = new Worker('component-worker.js', { type: 'module' });
    const code = 'data:text/javascript,export const instantiate = () => postMessage({ type: "ran" })';
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ type: 'open', code, declaration: { name: 'x', wit: '0.1.0' }, grant: {}, memory: 65536 });
    worker.postMessage({ type: 'run', kind: 'call', given: { name: 'X', observed: [] }, input: '{}', state: [], grant: {}, facts: {} });
  }));
  assert.equal(said.type, 'failed');
  assert.match(said.message, /data:text\/javascript/);
  await context.close();
});
