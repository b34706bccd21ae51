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
  /** What was not read yet, as it came: `MessageLine` and `StreamEvents`. */
  #unread = [];
  /** How many messages that is. */
  #waiting = 0;
  /** Those who wait for a message: `{ read, resolve, reject }`. */
  #readers = [];
  /** What the loop waits for where there is no room, in one place or in several: `{ promise, make }`. */
  #room;
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
      for (let next = await this.#next(asLine); !next.done; next = await this.#next(asLine)) yield next.value;
    } finally {
      await this.return();
    }
  }

  next() {
    return this.#next(asMessage);
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

  /** @private Takes messages; where there is no room for more, gives a promise that there is. */
  [TAKE](messages) {
    if (this.#abandoned) return undefined;
    this.#unread.push(messages);
    this.#waiting += messages.left;
    while (this.#readers.length > 0 && this.#waiting > 0) {
      const { read, resolve } = this.#readers.shift();
      resolve(this.#first(read));
    }
    if (this.#waiting < MESSAGES_AHEAD) return undefined;
    if (!this.#room) {
      let make;
      const promise = new Promise((resolve) => (make = resolve));
      this.#room = { promise, make };
    }
    return this.#room.promise;
  }

  /** @private Lets the reader go on, if there is one, until nothing waits. */
  async [READ]() {
    for (let turn = 0; turn < TURNS && this.#waiting > 0; turn += 1) await undefined;
  }

  #next(read) {
    if (this.#waiting > 0) {
      const next = this.#first(read);
      if (this.#waiting <= MESSAGES_LEFT) this.#makeRoom();
      return Promise.resolve(next);
    }
    if (this.#over) return this.#ended();
    return new Promise((resolve, reject) => {
      this.#readers.push({ read, resolve, reject });
    });
  }

  /** Reads the first that waits. */
  #first(read) {
    const [messages] = this.#unread;
    const value = read(messages);
    if (messages.left === 0) this.#unread.shift();
    this.#waiting -= 1;
    return { done: false, value };
  }

  #ended() {
    const { error } = this.#over;
    this.#over = {}; // an error is told once
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  #end(over) {
    this.#over ??= over;
    this.#makeRoom(); // nothing more is written to it, so that nobody waits for its reader
    for (const { resolve, reject } of this.#readers.splice(0)) this.#ended().then(resolve, reject);
  }

  /** Nobody reads any further: stops the work and drops its messages. */
  #abandon(over) {
    if (this.#over) return;
    this.#abandoned = true;
    this.#unread = [];
    this.#waiting = 0;
    this.#makeRoom();
    this.#end(over);
    this.interrupt().catch(() => {});
  }

  /** @private Whether nobody wants it any more. */
  get [STOPPED]() {
    return this.#stopped;
  }

  #makeRoom() {
    this.#room?.make();
    this.#room = undefined;
  }
}

const asMessage = (messages) => messages.message();
const asLine = (messages) => messages.line();
