/** Sends the requests of one run of a component, in the page: secrets are added and taken out of the answers here. */
import { joined } from './bytes.js';
import { judged, refused } from './component-request.js';
import { addSecrets, valuesOf } from './secret-values.js';

/** Bytes of the bodies of requests and answers of one run, together, when a component declares nothing less; as natively. */
export const HTTP_BYTES = 32 << 20;

/** Requests of one run. A component runs again from the beginning for each of them, so there are fewer than natively. */
export const MOST_REQUESTS = 128;

/** Messages to the log of the host. */
const NOTES = 100;

/** Headers of an answer that describe how it came, not what it is. `fetch` has undone an encoding. */
const OF_THE_CONNECTION = ['connection', 'content-encoding', 'content-length', 'keep-alive', 'transfer-encoding'];

/** Encodings in which a secret is found: none, and in a page, which asks for some itself, those that every browser undoes. */
const PLAIN = ['', 'identity'];
const UNDONE = [...PLAIN, 'gzip', 'x-gzip', 'deflate', 'br'];

/** Statuses of answers that are parts: `Partial Content`, and `IM Used`. */
const PARTIAL = [206, 226];

export class ComponentNetwork {
  #plugin;
  #grant;
  #known;
  #fetch;
  #secret;
  #signal;
  #note;
  #left;
  #requests = 0;
  #tail = Promise.resolve();

  /**
   * @param {object} run
   * @param {string} run.plugin the name of the component
   * @param {import('./network-grant.js').NetworkGrant} run.grant
   * @param {import('./secret-values.js').KnownSecrets} run.known
   * @param {typeof fetch} run.fetch
   * @param {Function} [run.secret] the embedder's `pluginSecret`
   * @param {AbortSignal} [run.signal] the run may not go on when it has fired
   * @param {(level: string, message: string) => void} run.log
   * @param {number} run.limit bytes of all bodies
   */
  constructor({ plugin, grant, known, fetch, secret, signal, log, limit }) {
    this.#plugin = plugin;
    this.#grant = grant;
    this.#known = known;
    this.#fetch = fetch;
    this.#secret = secret;
    this.#signal = signal;
    this.#note = noting(log);
    this.#left = limit;
  }

  /**
   * Sends a request and reads the whole answer.
   *
   * @param {object} request as `windlass:host/http` has it
   * @param {object[]} [added] headers with secrets, as `windlass:host/secrets` has them
   * @returns {Promise<{ response: object } | { failure: { tag: string, val: string } }>}
   * @throws where the run may not go on
   */
  send(request, added) {
    // One after another, whoever asks: each may use what is left by those before it.
    const done = this.#tail.then(() => this.#send(request, added));
    this.#tail = done.catch(() => {});
    return done;
  }

  async #send(request, added) {
    this.#signal?.throwIfAborted();
    this.#requests += 1;
    if (this.#requests > MOST_REQUESTS) throw new Error(tooMany());
    try {
      return { response: await this.#exchange(judged(request, this.#grant, this.#note), added) };
    } catch (fault) {
      this.#signal?.throwIfAborted();
      // Whatever it is, it may have a value in it.
      if (fault?.tag === undefined) throw new Error(this.#known.redactor.text(said(fault)));
      return { failure: { tag: fault.tag, val: this.#known.redactor.text(fault.val) } };
    }
  }

  async #exchange(request, added = []) {
    const { origin, headers, size } = request;
    if (size > this.#left) throw refused('the body is longer than what is left to this call');
    const values = this.#grant.hasSecrets ? await this.#ended(valuesOf(this.#grant, this.#plugin, origin, this.#secret, this.#note)) : new Map();
    this.#known.add([...values.values()].filter((value) => value !== undefined));
    addSecrets(request, added, values, this.#grant, this.#known, this.#note);
    // Where the host lets it be set.
    if (this.#grant.hasSecrets) headers.set('accept-encoding', 'identity');
    this.#left -= size;
    const response = await this.#answered(request);
    this.#check(response);
    const body = await this.#read(origin, response);
    const { redactor } = this.#known;
    const shown = [...response.headers].filter(([name]) => !OF_THE_CONNECTION.includes(name));
    return {
      status: response.status,
      headers: shown.map(([name, value]) => ({ name: redactor.text(name), value: redactor.header(value) })),
      body: redactor.bytes(body),
    };
  }

  async #answered({ origin, url, method, headers, body, size }) {
    try {
      const init = { method, headers, body: size > 0 ? joined(body) : undefined, redirect: 'manual', signal: this.#signal, ...unattended() };
      return await this.#ended(this.#fetch(url, init));
    } catch (cause) {
      // What it is told is always the same: it must not find out which names and addresses there are inside of a network.
      this.#note(this.#known.redactor.text(`${origin} could not be reached, or does not let this page read its answers: ${said(cause)}`));
      throw { tag: 'connect', val: `${origin} could not be reached` };
    }
  }

  /** Refuses an answer that came from elsewhere, or in which a secret would not be found. */
  #check({ type, status, redirected, headers }) {
    if (type === 'opaqueredirect') {
      throw refused('the answer is a redirect, which is not followed, and a page does not learn where it leads');
    }
    if (redirected) throw refused('the answer came by a redirect, which must not be followed');
    if (type === 'opaque' || status === 0) throw refused('the answer is one that a page must not read');
    if (!this.#grant.hasSecrets) return;
    const encodings = (headers.get('content-encoding') ?? '').split(',').map((encoding) => encoding.trim().toLowerCase());
    const most = letsAskPlainly() ? PLAIN : UNDONE;
    if (!encodings.every((encoding) => most.includes(encoding))) {
      throw refused('the answer is compressed, although the request did not accept that');
    }
    if (PARTIAL.includes(status) || headers.has('content-range')) {
      throw refused('the answer is a part, although the request did not ask for one');
    }
  }

  async #read(origin, response) {
    const limit = this.#left;
    const reader = response.body?.getReader();
    const pieces = [];
    for (;;) {
      const { done, value } = reader ? await this.#piece(origin, reader) : { done: true };
      if (done) return joined(pieces);
      this.#left -= value.length;
      if (this.#left < 0) {
        this.#left = 0;
        reader.cancel().catch(() => {});
        throw { tag: 'too-large', val: `the answer of ${origin} is longer than the ${limit} bytes that are left to this call` };
      }
      pieces.push(value);
    }
  }

  async #piece(origin, reader) {
    try {
      return await this.#ended(reader.read());
    } catch (cause) {
      reader.cancel().catch(() => {});
      throw { tag: 'interrupted', val: `the exchange with ${origin} broke: ${said(cause)}` };
    }
  }

  /** What comes of this, unless the run ends before: not everything that is waited for knows the signal. */
  async #ended(work) {
    const signal = this.#signal;
    if (!signal) return work;
    let stop;
    const stopped = new Promise((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
    });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}

/** What is said of the request that would be too much. */
export function tooMany() {
  return `it sent more than ${MOST_REQUESTS} requests in one call`;
}

/** Nothing of the page goes along: no cookies, no address, nothing from a cache. Not every host has these settings. */
function unattended() {
  const settings = { mode: 'cors', credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' };
  return Object.fromEntries(Object.entries(settings).filter(([name]) => name in Request.prototype));
}

/** Whether a request can say that it takes no compressed answer; a browser leaves that out. */
function letsAskPlainly() {
  return new Request('https://localhost', { headers: { 'accept-encoding': 'identity' } }).headers.has('accept-encoding');
}

/** For what only the host's log is told, so many times. */
export function noting(log) {
  let left = NOTES;
  return (what) => {
    left -= 1;
    if (left >= 0) log('info', what);
  };
}

function said(cause) {
  return cause instanceof Error ? cause.message : String(cause);
}
