/** The worker of the tests: sessions whose model is at an address that the configuration names. */
import module from 'windlass_browser_bg.wasm';
import testkitModule from 'windlass_browser_testkit_bg.wasm';
import { edge } from './edge.js';
import { DurableObjectSessionStore, tool } from './index.js';
import { checkStore, initTestkit } from './testkit.js';
import { Session as Core } from './windlass_browser.js';

const note = tool('Note', 'Notes something.', { type: 'object', properties: { text: { type: 'string' } } }, ({ text }) => `noted: ${text}`);

// Which leaves a trace and never comes back.
const wait = (env) => tool('Wait', 'Waits.', { type: 'object', properties: { text: { type: 'string' } } }, async ({ text }, { effectId }) => {
  await fetch(traceOf(env, 'Wait', text, effectId));
  return new Promise(() => {});
});

/** What the server of the model keeps of an effect: what it is, and its name. */
function traceOf(env, name, text, effectId) {
  return `${env.MODEL}/${name}/${encodeURIComponent(text)}?${encodeURIComponent(effectId)}`;
}

/** Which only look, so that several of them run at the same time, and leave a trace of each run. */
const looks = (env) => ['Count', 'Peek'].map((name) => {
  const look = async ({ text }, { effectId }) => {
    await fetch(traceOf(env, name, text, effectId));
    return `${name}: ${text}`;
  };
  return tool(name, 'Looks.', { type: 'object', properties: { text: { type: 'string' } } }, look, { annotations: { readOnly: true } });
});

// Which look, too, and never come back where they begin for the first time, unless they are told to.
const stalls = (env) => Object.entries({ Stall: 'never', Retry: 'run_again', Keyed: 'run_again_with_key' }).map(([name, retry]) => {
  const stall = async ({ text, ends = false }, { effectId }) => {
    const begun = await fetch(traceOf(env, name, text, effectId));
    if ((await begun.text()) === 'again') return `${name}: again`;
    return ends ? `${name}: at once` : new Promise(() => {});
  };
  const properties = { text: { type: 'string' }, ends: { type: 'boolean' } };
  return tool(name, 'Looks.', { type: 'object', properties }, stall, { annotations: { readOnly: true }, retry });
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
    tools: [note, wait(env), ...looks(env), ...stalls(env)],
    agents: { scout: { description: 'Looks around.', prompt: 'You look around.' } },
    allowedTools: ['Wait', 'Count', 'Stall', 'Retry', 'Keyed', 'Agent'],
  }),
};
const { handler, SessionObject } = edge(parts);

/** What is in the memory of the isolate, which several objects have, one after another or at the same time. */
let constructed = 0;
const cores = [];

class CountedObject extends SessionObject {
  constructor(...given) {
    super(...given);
    constructed += 1;
  }
}

const { drive } = Core.prototype;
Core.prototype.drive = function (...given) {
  cores.push(new WeakRef(this));
  return drive.apply(this, given);
};

function memory() {
  globalThis.gc();
  return { constructed, sessions: cores.filter((core) => core.deref()).length };
}

// Which waits for no person.
const impatient = edge({ ...parts, namespace: 'IMPATIENT', questionTimeoutMs: 50 });
const ImpatientObject = impatient.SessionObject;

// Which waits until the runtime can have been killed.
const patient = edge({ ...parts, namespace: 'PATIENT', questionTimeoutMs: 2000 });
const PatientObject = patient.SessionObject;

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

export { ImpatientObject, PatientObject, CountedObject as SessionObject };
export default {
  fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === '/memory') return Response.json(memory());
    if (pathname === '/check') return env.CHECK.get(env.CHECK.newUniqueId()).fetch(request);
    const kind = { impatient, patient }[request.headers.get('patience')];
    return (kind?.handler ?? handler).fetch(request, env);
  },
};
