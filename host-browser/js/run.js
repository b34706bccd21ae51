/** The messages of an answer. */

/** Messages that may wait to be read before the loop waits too, and how many are left when it goes on: not for each of them. */
const MESSAGES_AHEAD = 256;
const MESSAGES_LEFT = 128;

/** How many turns of the job queue a reader has to read what waits. It needs some for each message. */
const TURNS = 8 * MESSAGES_AHEAD;

export const TAKE = Symbol('take');
export const READ = Symbol('read');
export const FOLLOW = Symbol('follow');
export const STOPPED = Symbol('stopped');

/** The messages of an answer, an async iterable. Leaving the loop stops the run. */
export class Run {
  #stop;
  #lines = [];
  /** Those who wait for a message: `{ resolve, reject }`. */
  #readers = [];
  /** Who waits for room. */
  #writer;
  /** `{ error }` or `{}` once there will be no more. */
  #over;
  #stopped = false;
  #abandoned = false;
  #done;

  /** @private */
  constructor(stop, signal) {
    this.#stop = stop;
    const abort = () => this.#abandon({ error: signal.reason });
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
  }

  /** Stops it: what remains are the messages of the interruption. */
  interrupt() {
    this.#stopped = true;
    return this.#stop(this);
  }

  /** Reads everything and gives the result message. */
  async result() {
    let last;
    for await (const message of this) if (message.type === 'result') last = message;
    if (!last) throw new Error('the run ended without a result');
    return last;
  }

  /** The messages as lines of JSON, byte for byte as the core wrote them. */
  async *lines() {
    try {
      for (let line = await this.#next(); line !== undefined; line = await this.#next()) yield line;
    } finally {
      await this.return();
    }
  }

  async next() {
    const line = await this.#next();
    return line === undefined ? { done: true, value: undefined } : { done: false, value: JSON.parse(line) };
  }

  async return() {
    if (!this.#over) this.#abandon({});
    await this.#done.catch(() => {});
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** @private */
  [FOLLOW](done) {
    this.#done = done;
    done.then(() => this.#end({}), (error) => this.#end({ error }));
  }

  /** @private Takes a line; where there is no room for the next, gives a promise that there is. */
  [TAKE](line) {
    if (this.#abandoned) return undefined;
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve(line);
      return undefined;
    }
    this.#lines.push(line);
    if (this.#lines.length < MESSAGES_AHEAD) return undefined;
    return new Promise((resolve) => {
      this.#writer = resolve;
    });
  }

  /** @private Lets the reader go on, if there is one, until nothing waits. */
  async [READ]() {
    for (let turn = 0; turn < TURNS && this.#lines.length > 0; turn += 1) await undefined;
  }

  #next() {
    if (this.#lines.length > 0) {
      const line = this.#lines.shift();
      if (this.#lines.length <= MESSAGES_LEFT) this.#makeRoom();
      return Promise.resolve(line);
    }
    if (this.#over) return this.#ended();
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  #ended() {
    const { error } = this.#over;
    this.#over = {}; // an error is told once
    return error === undefined ? Promise.resolve(undefined) : Promise.reject(error);
  }

  #end(over) {
    this.#over ??= over;
    for (const { resolve, reject } of this.#readers.splice(0)) this.#ended().then(resolve, reject);
  }

  /** Nobody reads any further: stops the work and drops its messages. */
  #abandon(over) {
    if (this.#over) return;
    this.#abandoned = true;
    this.#lines = [];
    this.#makeRoom();
    this.#end(over);
    this.interrupt().catch(() => {});
  }

  /** @private Whether nobody wants it any more. */
  get [STOPPED]() {
    return this.#stopped;
  }

  #makeRoom() {
    this.#writer?.();
    this.#writer = undefined;
  }
}
