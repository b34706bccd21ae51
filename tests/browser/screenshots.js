/**
 * Pictures of the demo page: `node screenshots.js DIRECTORY [png|webp]`, by the package and the browser that tests of the page take
 * (`page/visit.js`). Each has the name of what it shows: `light`, `dark`, `phone`, `phone-dark`, `question`, `timeline`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answered, ask, open, panel, question, tab } from './page/visit.js';

const WIDE = { viewport: { width: 1100, height: 720 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };

const [directory, format = 'webp'] = process.argv.slice(2);
if (!directory || !['png', 'webp'].includes(format)) throw new Error('usage: node screenshots.js DIRECTORY [png|webp]');

/** Asks for the repair and allows it. */
async function repaired(page) {
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').getByRole('button', { name: 'Allow always: Bash(python3' }).click();
  await question(page, 'Edit').getByRole('button', { name: 'Allow once' }).click();
  await answered(page);
}

/** Asks for the repair, up to the question about the change. */
async function asked(page) {
  await ask(page, 'Fix the failing tests');
  await question(page, 'Bash').getByRole('button', { name: 'Allow once' }).click();
  await question(page, 'Edit').waitFor();
}

/** Goes back to the moment at which the change was asked about. */
async function scrubbed(page) {
  await repaired(page);
  const timeline = await panel(page, 'Timeline');
  await timeline.locator('.step').filter({ hasText: 'Question: may Edit run?' }).click();
  await page.getByText('You see step').waitFor();
}

const PICTURES = {
  light: [repaired, { ...WIDE, colorScheme: 'light' }],
  dark: [repaired, { ...WIDE, colorScheme: 'dark' }],
  phone: [repaired, { ...PHONE, colorScheme: 'light' }],
  'phone-dark': [repaired, { ...PHONE, colorScheme: 'dark' }],
  question: [asked, { ...WIDE, colorScheme: 'light' }],
  timeline: [scrubbed, { ...WIDE, colorScheme: 'light' }],
};

await mkdir(directory, { recursive: true });
const site = await open();
try {
  for (const [name, [work, options]] of Object.entries(PICTURES)) {
    const context = await site.visitor({ reducedMotion: 'reduce', ...options });
    const page = await tab(context, site.url);
    await work(page);
    await writeFile(join(directory, `${name}.${format}`), await picture(page));
    await context.close();
  }
} finally {
  await site.close();
}

/** Chromium writes WebP only when it is asked by its own protocol. */
async function picture(page) {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', format === 'webp' ? { format, quality: 55 } : { format });
  return Buffer.from(data, 'base64');
}
