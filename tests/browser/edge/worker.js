/** The worker of the tests: sessions whose model is at an address that the configuration names. */
import module from 'windlass_browser_bg.wasm';
import testkitModule from 'windlass_browser_testkit_bg.wasm';
import { edge } from './edge.js';
import { DurableObjectSessionStore, tool } from './index.js';
import { checkStore, initTestkit } from './testkit.js';

const note = tool('Note', 'Notes something.', { type: 'object', properties: { text: { type: 'string' } } }, ({ text }) => `noted: ${text}`);

// Which never comes back.
const wait = tool('Wait', 'Waits.', { type: 'object' }, () => new Promise(() => {}));

/** Which only look, so that several of them run at the same time, and leave a trace of each run. */
const looks = (env) => ['Count', 'Peek'].map((name) => {
  const look = async ({ text }) => {
    await fetch(`${env.MODEL}/${name}/${text}`);
    return `${name}: ${text}`;
  };
  return tool(name, 'Looks.', { type: 'object', properties: { text: { type: 'string' } } }, look, { annotations: { readOnly: true } });
});

// Which look, too, and never come back where they begin for the first time.
const stalls = (env) => Object.entries({ Stall: 'never', Retry: 'run_again', Keyed: 'run_again_with_key' }).map(([name, retry]) => {
  const stall = async (input, { effectId }) => {
    const begun = await fetch(`${env.MODEL}/${name}?${encodeURIComponent(effectId)}`);
    return (await begun.text()) === 'first' ? new Promise(() => {}) : `${name}: again`;
  };
  return tool(name, 'Looks.', { type: 'object' }, stall, { annotations: { readOnly: true }, retry });
});

const parts = {
  module,
  heartbeatMs: 100,
  authorize: (request) => {
    if (request.headers.get('authorization') !== 'Bearer visitor') return new Response('who are you?', { status: 401 });
  },
  options: (env) => ({
    baseUrl: env.MODEL,
    apiKey: 'secret-of-the-edge',
    tools: [note, wait, ...looks(env), ...stalls(env)],
    agents: { scout: { description: 'Looks around.', prompt: 'You look around.' } },
    allowedTools: ['Wait', 'Count', 'Stall', 'Retry', 'Keyed', 'Agent'],
  }),
};
const { handler, SessionObject } = edge(parts);

// Which waits for no person.
const impatient = edge({ ...parts, namespace: 'IMPATIENT', questionTimeoutMs: 50 });
const ImpatientObject = impatient.SessionObject;

/** Checks the store that sessions are kept in, in the storage of an object. */
export class StoreCheck {
  #storage;

  constructor(ctx) {
    this.#storage = ctx.storage;
  }

  async fetch() {
    await initTestkit(testkitModule);
    let last = Promise.resolve();
    const broken = await checkStore(() => {
      // One place after the other.
      last = this.#storage.deleteAll();
      return {
        store: async () => {
          await last;
          return new DurableObjectSessionStore(this.#storage);
        },
      };
    });
    return Response.json(broken);
  }
}

export { ImpatientObject, SessionObject };
export default {
  fetch(request, env) {
    if (new URL(request.url).pathname === '/check') return env.CHECK.get(env.CHECK.newUniqueId()).fetch(request);
    return (request.headers.has('impatient') ? impatient.handler : handler).fetch(request, env);
  },
};
