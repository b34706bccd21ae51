/** The page of the guide, asked as a person asks it. */
import assert from 'node:assert/strict';

/**
 * Asks its agent, which reads its file; nothing may go wrong there that a person would not see.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {import('../edge/model.js').Model} model who answers
 * @param {string} url
 */
export async function askThePage(browser, model, url) {
  const page = await browser.newPage();
  const wrong = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    const isWrong = ['error', 'warning'].includes(message.type());
    if (isWrong && !message.location().url.endsWith('/favicon.ico')) wrong.push(message.text());
  });
  await page.goto(url);
  model.answer({ call: { name: 'Read', input: { file_path: '/notes/list.txt' } } }, 'Plants want water.');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('Plants want water.').waitFor().catch((error) => wrong.push(error.message));
  await page.close();
  assert.deepEqual(wrong, []);
  const [asked, answered] = model.requests.slice(-2);
  assert.equal(asked.body.messages.length, 1);
  assert.match(JSON.stringify(answered.body.messages.at(-1)), /Water the plants/);
}
