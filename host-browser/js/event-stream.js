/** A stream of server-sent events. */

export class EventStream {
  /** For the body of a response. */
  readable;
  #writer;
  #encoder = new TextEncoder();
  #heartbeat;
  #left;

  /**
   * @param {number} heartbeatMs how often it is written to where nothing happens
   * @param {() => void} left called when it turns out that nobody reads it any more
   */
  constructor(heartbeatMs, left) {
    const { readable, writable } = new TransformStream();
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#left = left;
    this.#heartbeat = setInterval(() => this.#write(':\n\n'), heartbeatMs);
  }

  /** Writes an event; resolves when there is room for the next, or nobody reads. */
  write(event, data) {
    return this.#write(`event: ${event}\ndata: ${data}\n\n`);
  }

  close() {
    clearInterval(this.#heartbeat);
    this.#writer.close().catch(() => {});
  }

  /** Ends it without what is still to be read. */
  abort() {
    clearInterval(this.#heartbeat);
    this.#writer.abort().catch(() => {});
  }

  #write(text) {
    return this.#writer.write(this.#encoder.encode(text)).catch(() => this.#left());
  }
}
