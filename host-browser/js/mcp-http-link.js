/** The client of `@modelcontextprotocol/sdk` over Streamable HTTP, with limits on what a server sends. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { bounded } from './bounded-response.js';
import { version } from './wasm.js';

/** The longest limit of a timer: limits are those of whoever asks. */
const NEVER_MS = 2 ** 31 - 1;

/** Milliseconds after the end of an answer until what it held must have arrived. */
const ARRIVAL_MS = 500;

/** Milliseconds that a server may take to hear that its session is over. */
const FAREWELL_MS = 2_000;

/**
 * Checks nothing: whether a result fits the server's own schema is of no use to the model, and the default validator compiles code,
 * which a content security policy forbids.
 */
const NO_VALIDATOR = { getValidator: () => (data) => ({ valid: true, data, errorMessage: undefined }) };

export class HttpLink {
  #client;
  #transport;
  #fetch;
  /** Requests that wait for an answer, by the function that is told of their progress on the wire: `{ over, isResumable, id }`. */
  #waiting = new Map();

  /**
   * @param {{ url: URL, headers: object, authProvider?: object, fetch?: typeof fetch }} configuration
   * @param {() => void} toolsChanged
   */
  constructor({ url, headers, authProvider, fetch }, toolsChanged) {
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#client = new Client({ name: 'windlass', version: version() }, { jsonSchemaValidator: NO_VALIDATOR });
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, toolsChanged);
    // Those that concern a request are told by it.
    this.#client.onerror = () => {};
    this.#transport = new StreamableHTTPClientTransport(url, {
      requestInit: { headers },
      authProvider,
      fetch: (target, init) => this.#send(target, init),
    });
    this.#learnIds();
  }

  /** What the server says of itself. */
  get info() {
    return this.#client.getServerVersion();
  }

  connect(signal) {
    return this.#untilOver(signal, (options) => this.#client.connect(this.#transport, options));
  }

  /** Sends a request; gives its result as it is. When the signal fires, the server is told. */
  request(request, { signal, progress }) {
    return this.#untilOver(signal, (options) => this.#client.request(request, ResultSchema, { ...options, onprogress: progress }));
  }

  /** Ends it: tells the server, without waiting, and fails what still waits for an answer. */
  close() {
    const closed = () => this.#client.close().catch(() => {});
    this.#transport.terminateSession().then(closed, closed);
  }

  /** Runs a request that ends with its answer, when the signal fires, or when its answer breaks off. */
  async #untilOver(signal, run) {
    const waiting = { over: new AbortController(), isResumable: false, id: undefined };
    const onresumptiontoken = () => {
      waiting.isResumable = true;
    };
    this.#waiting.set(onresumptiontoken, waiting);
    const stop = () => waiting.over.abort(signal.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    try {
      return await run({ signal: waiting.over.signal, timeout: NEVER_MS, onresumptiontoken });
    } catch (error) {
      // The client would say that it took too long, whatever it was.
      if (waiting.over.signal.aborted) throw waiting.over.signal.reason;
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      this.#waiting.delete(onresumptiontoken);
    }
  }

  /** The ids of requests are the client's own; the transport is told them together with that function. */
  #learnIds() {
    const send = this.#transport.send.bind(this.#transport);
    this.#transport.send = (message, options) => {
      const waiting = this.#waiting.get(options?.onresumptiontoken);
      if (waiting) waiting.id = message.id;
      return send(message, options);
    };
  }

  async #send(target, init = {}) {
    const isFarewell = init.method === 'DELETE';
    const signal = isFarewell ? AbortSignal.timeout(FAREWELL_MS) : init.signal;
    const response = await this.#fetch(target, { ...init, signal });
    const isPost = init.method === 'POST' && typeof init.body === 'string';
    return bounded(response, {
      isEndless: !isPost,
      ended: (error) => isPost && this.#answerEnded(JSON.parse(init.body).id, error),
    });
  }

  /** An answer that ended without its result, and that is not to be continued, never has one. */
  #answerEnded(id, error = new Error('it ended its answer before the result')) {
    const waiting = [...this.#waiting.values()].find((it) => it.id === id);
    if (id === undefined || !waiting) return;
    setTimeout(() => {
      if (!waiting.isResumable) waiting.over.abort(error);
    }, ARRIVAL_MS);
  }
}
