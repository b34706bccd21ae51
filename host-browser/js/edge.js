/**
 * Agents at the edge: a fetch handler, and a Durable Object for each session, or an object of `LocalObjects` where there are none.
 *
 * | request | answer |
 * |---|---|
 * | `POST /sessions` with `{ "prompt": … }` | a new session: a stream of events, each message one (`message`), with the id in the header `windlass-session` |
 * | `POST /sessions/ID` with `{ "prompt": … }` | the session goes on: the same |
 * | `POST /sessions/ID/answer` with `{ "toolUseID": …, "behavior": "allow" \| "deny", … }` | answers a question about a call, which is an event (`permission`) of the stream; where nobody reads that any more, or the object that asked is gone: the stream of what follows |
 * | `GET /sessions/ID/questions` | the questions that are open |
 * | `POST /sessions/ID/interrupt` | stops what is running |
 * | `GET /sessions/ID` | the transcript: lines of JSON |
 * | `DELETE /sessions/ID` | nothing is kept of the session any more |
 *
 * The answer stops by `interrupt`, and when its reader leaves: at the next event or heartbeat, where the runtime says so
 * (compatibility flags `enable_request_signal` and `request_signal_passthrough`). A question stays open then. What was said until then
 * is kept, and the next prompt goes on behind it, also after the object was evicted or its machine went down.
 */
import { Agent } from './agent.js';
import { DurableObjectSessionStore } from './durable-object-session-store.js';
import { Questions } from './edge-questions.js';
import { EventStream } from './event-stream.js';
export { LocalObjects } from './local-objects.js';
import { KEEPS_QUESTIONS, LET_GO } from './session.js';
import { init } from './wasm.js';

/** How often a stream is written to where nothing is said: who has left is noticed, and what lies between keeps the connection. */
const HEARTBEAT_MS = 15_000;

/** What a call gets that waited for a person, when a prompt came in place of the answer. */
const UNANSWERED = 'nobody answered the question about this call: another prompt came in place of the answer';

const SESSION = /^\/sessions\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\/(answer|interrupt|questions))?$/;

/**
 * Stops the sessions of objects that the platform has let go of, which it tells nobody: the engine would keep them in the memory of the
 * isolate, where other objects go on. What they have said is in the storage.
 */
const EVICTED = globalThis.FinalizationRegistry && new FinalizationRegistry((session) => session[LET_GO]());

/** Behind the address of a session that begins: only the handler asks an object for that. */
const BEGIN = /\/begin$/;

/**
 * Makes the fetch handler and the class of the sessions' objects.
 *
 * @param {object} parts
 * @param {import('./index.js').ModuleSource} [parts.module] `windlass/core.wasm`, where the platform imports it
 * @param {(request: Request, env: object) => Response | void | Promise<Response | void>} parts.authorize who may do what with sessions: called
 *   for every request, before anything else; a `Response` refuses it
 * @param {(env: object, request: Request) => object | Promise<object>} parts.options what an agent is made of, for each session
 * @param {string} [parts.namespace] the binding of the objects; default `SESSIONS`
 * @param {number} [parts.heartbeatMs] how often a stream is written to where nothing is said; default 15,000
 * @param {number} [parts.questionTimeoutMs] after which a question that nobody answers is denied; never if left out
 */
export function edge({ module, authorize, options, namespace = 'SESSIONS', heartbeatMs = HEARTBEAT_MS, questionTimeoutMs }) {
  if (typeof authorize !== 'function') {
    throw new Error('edge: `authorize` says who may have sessions; for everybody, say `authorize: () => {}`');
  }
  const handler = {
    async fetch(request, env) {
      const refused = await refusalOf(authorize, request, env);
      if (refused) return refused;
      const { pathname } = new URL(request.url);
      if (pathname === '/sessions' && request.method === 'POST') {
        const path = `/sessions/${crypto.randomUUID()}`;
        return objectOf(env[namespace], path).fetch(new Request(new URL(`${path}/begin`, request.url), request));
      }
      if (!SESSION.test(pathname)) return failed(404, `there is nothing at ${pathname}: sessions are at /sessions`);
      return objectOf(env[namespace], pathname).fetch(request);
    },
  };

  class SessionObject {
    #storage;
    #env;
    #store;
    #session;
    #questions;
    /** Whose answer is being given, and its end. */
    #run;
    #over;
    /** Who reads it; nobody, where the reader has left. */
    #reader;
    /** The last request that changes something: they are served one after another, as the platform does it where it can. */
    #tail = Promise.resolve();
    /** The address of the session, and what is called when a person is asked. */
    #address;
    #asked = () => {};
    /** Whether what runs is the end of a turn that another object has left: nobody is asked any more. */
    #isEnding = false;

    constructor(ctx, env) {
      this.#storage = ctx.storage;
      this.#env = env;
      this.#store = new DurableObjectSessionStore(ctx.storage);
      this.#questions = new Questions(ctx.storage, questionTimeoutMs);
    }

    async fetch(request) {
      try {
        const isNew = BEGIN.test(request.url);
        const asked = isNew ? new Request(request.url.replace(BEGIN, ''), request) : request;
        const [, id, action] = SESSION.exec(new URL(asked.url).pathname) ?? [];
        return await this.#handle(asked, { id, action, isNew });
      } catch (error) {
        return failed(500, error?.message ?? String(error));
      }
    }

    /** Called by the runtime when the time of a question is over. */
    async alarm() {
      const waits = await this.#next(async () => {
        const address = await this.#questions.expire();
        if (!address || this.#run) return undefined;
        await this.#begin(new Request(address), (session) => session.continue(), { isAnew: true });
        this.#over = SessionObject.#stream(heldWeakly(this), this.#run);
        // An object has one alarm at a time: the next question has its own.
        const asked = new Promise((resolve) => (this.#asked = resolve));
        return { until: [this.#over, asked] };
      });
      if (waits) await Promise.race(waits.until);
    }

    #next(work) {
      const done = this.#tail.then(work);
      this.#tail = done.catch(() => {});
      return done;
    }

    /** Whether it can leave the memory: nothing runs, and nobody is asked. */
    rests() {
      return !this.#run;
    }

    /** Ends its session, which goes on with the next prompt, here or in another object. */
    async close() {
      const session = this.#session;
      this.#session = undefined;
      if (!session) return;
      EVICTED?.unregister(session);
      await session.close();
    }

    async #handle(request, { id, action, isNew }) {
      const { method } = request;
      this.#address = new URL(`/sessions/${id}`, request.url).href;
      if (method === 'GET' && action === 'questions') return Response.json(await this.#questions.open());
      if (method === 'GET' && !action) return this.#transcript(id);
      if (method === 'DELETE' && !action) return this.#next(() => this.#delete(id));
      if (method !== 'POST') return failed(405, `${method} is nothing that a session does`);
      if (action === 'interrupt') return this.#next(() => this.#interrupt());
      const body = await request.json().catch(() => undefined);
      if (action === 'answer') return this.#next(() => this.#answer(id, body, request));
      if (action) return failed(405, `${method} is nothing that ${action} does`);
      return this.#next(() => this.#prompt(id, body, request, isNew));
    }

    async #prompt(id, body, request, isNew) {
      if (!isPrompt(body?.prompt)) return failed(400, 'write a body of JSON with a `prompt`: a text, or blocks of content');
      if (!isNew && !this.#session && !(await this.#isKept(id))) return failed(404, `nothing is kept of a session ${id}: POST /sessions begins one`);
      if (this.#isLeft()) await this.#stop();
      if (this.#run) return failed(409, 'the session is answering another prompt: wait for its result, or interrupt it');
      const isLeft = !isNew && !this.#session && (await this.#hasUnfinishedTurn(id));
      return this.#answering(id, request, async () => {
        await this.#questions.forgetGone();
        if (isLeft) await this.#endTurn(request);
        return this.#session.prompt(body.prompt);
      });
    }

    /** Whether there is the state of a turn that an object which is gone has begun. */
    async #hasUnfinishedTurn(id) {
      return Boolean((await this.#store.load(id))?.snapshot?.isCurrent);
    }

    /** Ends the turn that another object has left. Results that a reader was shown may be in its state alone: they come into the transcript. */
    async #endTurn(request) {
      this.#isEnding = true;
      try {
        const session = this.#session;
        const run = session.continue();
        session.id().then(() => run.interrupt()).catch(() => {});
        for await (const _ of run.lines());
      } catch (error) {
        console.error('windlass: a turn that was left cannot be ended, the transcript goes on without it:', error);
        await this.close();
        this.#session = await this.#open(request);
      } finally {
        this.#isEnding = false;
      }
    }

    /** The stream of what `begin` makes the session say. */
    async #answering(id, request, begin, how) {
      await this.#begin(request, begin, how);
      const response = this.#readBy(request, id);
      this.#over = SessionObject.#stream(heldWeakly(this), this.#run);
      return response;
    }

    /** Begins a run of the session, which is opened anew where it has to go on from what is kept. */
    async #begin(request, begin, { isAnew = false } = {}) {
      this.#run = 'starting';
      try {
        if (isAnew) await this.close();
        this.#session ??= await this.#open(request);
        this.#run = await begin(this.#session);
      } catch (error) {
        this.#run = undefined;
        throw error;
      }
    }

    /** What is said from now on is the answer to this request, and to no other. */
    #readBy(request, id) {
      this.#reader?.close();
      const reader = new EventStream(heartbeatMs, () => this.#left(reader));
      request.signal?.addEventListener('abort', () => this.#left(reader), { once: true });
      this.#reader = reader;
      return new Response(reader.readable, {
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'windlass-session': id },
      });
    }

    /** A reader that leaves stops the answer. A question stays open: whoever answers it reads what follows. */
    #left(reader) {
      if (this.#reader !== reader) return;
      this.#reader = undefined;
      reader.abort();
      if (!this.#questions.areWaiting()) this.#run.interrupt().catch(() => {});
    }

    /** Whether an answer is being given that nobody reads. */
    #isLeft() {
      return this.#run && this.#run !== 'starting' && !this.#reader;
    }

    async #stop() {
      await this.#run.interrupt();
      await this.#over;
    }

    #emit(event, data) {
      return this.#reader?.write(event, data);
    }

    /** The session that is kept under the id, or a new one. */
    async #open(request) {
      await init(module);
      this.#address ??= request.url;
      const [, id] = SESSION.exec(new URL(request.url).pathname);
      // No function here may have `this`: the engine would keep the object in the memory when the platform lets go of it.
      const object = heldWeakly(this);
      const agent = new Agent({
        // An object that is gone is not there to ask: its session is stopped, and the question stays open.
        canUseTool: (...asked) => object.deref()?.#ask(...asked) ?? new Promise(() => {}),
        ...(await optionsFor(options, this.#env, request)),
        sessionStore: this.#store,
        [KEEPS_QUESTIONS]: true,
        ...((await this.#isKept(id)) ? { resume: id } : { sessionId: id }),
      });
      const session = agent.session();
      EVICTED?.register(this, session, session);
      return session;
    }

    async #isKept(id) {
      return (await this.#store.list()).some((kept) => kept.id === id);
    }

    /** Sends the messages of a run, with what it needs at the moment: a run in which a person is asked keeps no object in the memory. */
    static async #stream(object, run) {
      try {
        for await (const line of run.lines()) await SessionObject.#said(object, line);
        // An answer that was given for a call that nobody asked about any more.
        await object.deref()?.#questions.forgetGone();
      } catch (error) {
        await object.deref()?.#failed(error);
      } finally {
        object.deref()?.#ended();
      }
    }

    static #said(object, line) {
      return object.deref()?.#emit('message', line.trimEnd());
    }

    async #failed(error) {
      // Opened anew with the next prompt, whatever is the matter with it.
      await this.close().catch(() => {});
      await this.#emit('error', JSON.stringify({ error: error?.message ?? String(error) }));
    }

    #ended() {
      this.#run = undefined;
      const reader = this.#reader;
      this.#reader = undefined;
      reader?.close();
    }

    /** Asks whoever reads the stream, and waits for the answer. */
    #ask(toolName, input, { signal, toolUseID, blockedPath, decisionReason, suggestions, agentID }) {
      if (this.#isEnding) return { behavior: 'deny', message: UNANSWERED, interrupt: true };
      const question = { toolUseID, toolName, input, blockedPath, decisionReason, suggestions, agentID };
      const emit = (asked) => {
        this.#asked();
        return this.#emit('permission', JSON.stringify(asked));
      };
      return this.#questions.ask(question, signal, emit, this.#address);
    }

    async #answer(id, answer, request) {
      if (answer?.behavior !== 'allow' && answer?.behavior !== 'deny') return failed(400, '`behavior` is "allow" or "deny"');
      const { toolUseID, ...given } = answer;
      const decision = given.behavior === 'deny' ? { message: 'denied', ...given } : given;
      const unknown = () => failed(404, 'no question of this session waits for such an answer: `toolUseID` names the call');
      if (!(await this.#questions.has(toolUseID))) return unknown();
      // The call is about to take the answer that somebody was faster with.
      if (this.#run && (await this.#questions.isDecided(toolUseID))) return unknown();
      // Whoever has lost the connection may be here before that is known.
      const takesOver = this.#isLeft() || (this.#reader && request.headers.get('accept')?.includes('text/event-stream'));
      let stream;
      // Whoever read it until now is let go when the answer is taken, and not for one that is none.
      const answered = await this.#questions.answer(toolUseID, decision, () => {
        if (takesOver) stream = this.#readBy(request, id);
      });
      if (!answered) return unknown();
      // Where the session goes on already, the call is about to be judged once more.
      if (answered.isGone && !this.#run) return this.#answering(id, request, (session) => session.continue(), { isAnew: true });
      return stream ?? Response.json({ toolUseID });
    }

    async #interrupt() {
      const session = this.#session;
      // What is not open yet has not heard of its prompt, and would be asked to stop nothing.
      await session?.id().catch(() => {});
      await session?.interrupt();
      return Response.json({});
    }

    async #transcript(id) {
      const stored = await this.#store.load(id);
      if (!stored) return failed(404, `nothing is kept of a session ${id}`);
      return new Response(stored.text, { headers: { 'content-type': 'application/x-ndjson' } });
    }

    async #delete(id) {
      if (this.#run) return failed(409, 'the session is answering a prompt: interrupt it first');
      await this.close();
      await this.#store.delete(id).catch((error) => {
        if (error.kind !== 'unknown') throw error;
      });
      await this.#storage.deleteAll();
      return Response.json({});
    }
  }

  return { handler, SessionObject };
}

/** What `authorize` says: nothing lets a request in, and whatever else it gives does not. */
async function refusalOf(authorize, request, env) {
  try {
    const said = await authorize(request, env);
    if (said === undefined || typeof said?.status === 'number') return said;
    console.error(`windlass: \`authorize\` gave ${said}: it gives nothing to let a request in, and a \`Response\` to refuse it`);
  } catch (error) {
    console.error('windlass: `authorize` failed:', error);
  }
  return failed(500, 'it cannot be said who may ask this');
}

/** The embedder's own, of whose faults those who ask learn nothing. */
async function optionsFor(options, env, request) {
  try {
    return await options(env, request);
  } catch (error) {
    console.error('windlass: `options` failed:', error);
    throw new Error('no session can be opened here now');
  }
}

function isPrompt(prompt) {
  if (typeof prompt === 'string') return prompt !== '';
  return Array.isArray(prompt) && prompt.length > 0 && prompt.every((block) => typeof block?.type === 'string');
}

function objectOf(namespace, pathname) {
  const [, id] = SESSION.exec(pathname);
  return namespace.get(namespace.idFromName(id));
}

function heldWeakly(object) {
  return EVICTED ? new WeakRef(object) : { deref: () => object };
}

function failed(status, error) {
  return Response.json({ error }, { status });
}
