/** Where real components run in the tests: Node, the thread of a page in Chromium, and a Worker of it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inPage, openBrowser } from '../chromium-page.js';
import { runComponent } from './run.js';
import { openServer } from '../network/server.js';
import { load, testkit, windlass } from '../package-under-test.js';

const folder = process.env.WINDLASS_TRANSPILED;
assert.ok(folder, '$WINDLASS_TRANSPILED names the folder of what jco made of the components');
const [assets, { wasi }] = await Promise.all(['assets.js', 'wasi.js'].map(load));

let browser;
let page;
export let server;
before(async () => {
  [server, browser] = await Promise.all([openServer(), openBrowser()]);
  page = await browser.newPage();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

export const FILES = {
  '/w/notes.txt': 'notes',
  '/w/table.csv': 'city,rain\nOslo,3\nBergen,9\nOslo,5\n',
  '/data/secret.txt': 'from outside',
};

/** Each runs the calls of a component: its name, the inputs, and options of `runComponent`. */
export const HOSTS = {
  'in Node': (name, inputs, options) => {
    const plugin = async (declaration, code, grant) => {
      const { instantiate } = await import(code);
      return new windlass.Plugin(declaration, instantiate, (path) => assets.readModule(new URL(path, code)), grant, { wasi });
    };
    return runComponent({ windlass, testkit, plugin }, new URL(`${name}/`, pathToFileURL(`${folder}/`)), name, inputs, options);
  },
  'in a page': (...given) => inPage(page, 'components/in-page.js', 'component', ...given),
  'in a Worker of a page': (name, inputs, options) => inPage(page, 'components/in-page.js', 'component', name, inputs, { ...options, inWorker: true }),
};

/** A test in each of them. */
export function everywhere(name, work) {
  for (const [host, run] of Object.entries(HOSTS)) {
    test(`${name}, ${host}`, () => work((component, inputs, options) => run(component, inputs, { files: FILES, server: server.origin, ...options })));
  }
}
