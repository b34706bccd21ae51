/** The declarations of the package: what people write is checked with them, and they say what is there, all of it and nothing else. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Project, pack } from './package/project.js';
import { directory } from './package-under-test.js';

const SOURCES = fileURLToPath(new URL('types/', import.meta.url));

/** How users resolve modules: through a bundler, or as Node does. */
const RESOLUTIONS = [
  ['--module', 'esnext', '--moduleResolution', 'bundler'],
  ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
];

const folder = mkdtempSync(join(tmpdir(), 'windlass-types-'));
let project;

before(async () => {
  const sources = readdirSync(SOURCES).map((name) => [name, readFileSync(join(SOURCES, name), 'utf8')]);
  project = await Project.create(await pack(directory, folder), Object.fromEntries(sources));
  // What an entry takes from elsewhere, if there is one that does.
  const { peerDependencies = {} } = manifest();
  project.link('typescript', ...new Set(['zod', ...Object.keys(peerDependencies)]));
});

after(() => {
  project?.remove();
  rmSync(folder, { recursive: true });
});

function manifest() {
  return JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
}

/** The entries that are JavaScript. */
function entries() {
  const { exports } = manifest();
  const scripts = Object.entries(exports).filter(([, conditions]) => conditions.default?.endsWith('.js'));
  return scripts.map(([entry]) => entry.replace('.', 'windlass'));
}

function checkTypes(resolution) {
  return project.run(process.execPath, 'node_modules/typescript/bin/tsc', ...resolution);
}

/** A program that has an error for each export without a declaration, and for each declaration without an export. */
async function namesOf(entry) {
  const script = `import * as all from '${entry}'; console.log(JSON.stringify(Object.keys(all)))`;
  const names = JSON.parse(await project.run(process.execPath, '--input-type=module', '--eval', script));
  assert.ok(names.length > 0, entry);
  return `import * as all from '${entry}';\nexport const names: ${every('typeof all', names)};\n`;
}

/** The type of an object and a value, which has these names and no others. */
function every(type, names) {
  return `Record<keyof ${type}, true> = { ${names.map((name) => `${name}: true`).join(', ')} }`;
}

test('what_people_write_passes_strict_checks_and_every_export_is_declared', async () => {
  for (const [index, entry] of entries().entries()) project.write({ [`names-${index}.ts`]: await namesOf(entry) });
  for (const resolution of RESOLUTIONS) await checkTypes(resolution);
});

test('every_option_and_every_event_is_declared_and_checked', async () => {
  const { EVENTS } = await import(pathToFileURL(join(directory, 'options.js')));
  const { OPTIONS } = await import(pathToFileURL(join(directory, 'option-values.js')));
  project.write({
    'options.ts': `
      import type { AgentOptions, HookEvent } from 'windlass';
      export const names: ${every('AgentOptions', OPTIONS)};
      export const events: ${every('Record<HookEvent, true>', EVENTS)};
    `,
  });
  await checkTypes(RESOLUTIONS[0]);
});

test('a_declaration_that_goes_missing_is_found', async () => {
  const declared = 'node_modules/windlass/stored-sessions.d.ts';
  const text = readFileSync(project.path(declared), 'utf8');
  project.write({ [declared]: text.replace('export function tagSession(', 'declare function tagSession(') });
  await assert.rejects(checkTypes(RESOLUTIONS[0]), /names-0\.ts.*tagSession/);
});
