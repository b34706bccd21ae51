/** The worker of the tests of determinism: runs the demonstration in virtual time, and journals once more. */
import module from 'windlass_browser_bg.wasm';
import testkitModule from 'windlass_browser_testkit_bg.wasm';
import core from 'files/files.core.wasm';
import core2 from 'files/files.core2.wasm';
import core3 from 'files/files.core3.wasm';
import * as demo from './demo/demo.js';
import { fileTools } from './files.js';
import * as windlass from './index.js';
import { runDemo } from './demo-run.js';
import * as testkit from './testkit.js';

const modules = { 'files.core.wasm': core, 'files.core2.wasm': core2, 'files.core3.wasm': core3 };
const parts = { windlass, files: { fileTools: () => fileTools({ modules }) }, testkit, demo };

export default {
  async fetch(request) {
    await Promise.all([windlass.init(module), testkit.initTestkit(testkitModule)]);
    try {
      if (new URL(request.url).pathname === '/journal') return Response.json(await testkit.replayJournal(await request.text()));
      const lines = [];
      const outcome = await runDemo(parts, await request.json(), (line) => lines.push(line));
      return new Response([...lines, `${JSON.stringify(outcome)}\n`].join('\n'));
    } catch (error) {
      return new Response(`${error.stack ?? error}`, { status: 500 });
    }
  },
};
