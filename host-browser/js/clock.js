/**
 * Time: `mono` and `wall` in whole milliseconds, `sleep(ms, signal)` a promise. A sleep whose signal fires is
 * forgotten; its promise may stay open.
 */

/** The time of the platform. */
export class SystemClock {
  mono() {
    return Math.floor(performance.now());
  }

  wall() {
    return Date.now();
  }

  sleep(ms, signal) {
    return new Promise((resolve) => {
      const forget = () => clearTimeout(timer);
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', forget);
        resolve();
      }, ms);
      signal?.addEventListener('abort', forget, { once: true });
    });
  }
}

/** 2026-01-01T00:00:00Z, as in the native test kit. */
const START = 1_767_225_600_000;

/**
 * A clock that stands still as long as anything can go on, and jumps to the next awaited moment when nothing
 * can: sleeping costs no time, and the order of events does not depend on the machine.
 *
 * "Nothing can go on" means that the engine has run out of microtasks, and that no component is loaded or run. Other work
 * that waits for the outside, such as a real request, is not seen: use it with the scripted model.
 */
export class VirtualClock {
  #now = 0;
  #asked = 0;
  /** Those who wait: `{ until, order, wake }`. */
  #waiting = new Set();
  #jumping = false;
  #working = 0;

  mono() {
    return this.#now;
  }

  wall() {
    return START + this.#now;
  }

  sleep(ms, signal) {
    return new Promise((resolve) => {
      this.#asked += 1;
      const forget = () => this.#waiting.delete(sleeper);
      const wake = () => {
        signal?.removeEventListener('abort', forget);
        resolve();
      };
      const sleeper = { until: this.#now + ms, order: this.#asked, wake };
      this.#waiting.add(sleeper);
      signal?.addEventListener('abort', forget, { once: true });
      this.#jumpWhenIdle();
    });
  }

  /** Stands still until this work, which does not wait for the clock, is done. */
  during(work) {
    this.#working += 1;
    const done = () => {
      this.#working -= 1;
      this.#jumpWhenIdle();
    };
    work.then(done, done);
  }

  #jumpWhenIdle() {
    if (this.#jumping || this.#working > 0) return;
    this.#jumping = true;
    nextTask(() => {
      this.#jumping = false;
      if (this.#working > 0) return;
      const waiting = [...this.#waiting].sort((a, b) => a.until - b.until || a.order - b.order);
      if (waiting.length === 0) return;
      this.#now = Math.max(this.#now, waiting[0].until);
      for (const sleeper of waiting) {
        if (sleeper.until > this.#now) break;
        this.#waiting.delete(sleeper);
        sleeper.wake();
      }
      if (this.#waiting.size > 0) this.#jumpWhenIdle();
    });
  }
}

/** Runs a function as a task of its own: after every microtask, and without the delay of a timer where there is another way. */
function nextTask(run) {
  if (typeof setImmediate === 'function') {
    setImmediate(run);
    return;
  }
  if (globalThis.navigator?.userAgent === 'Cloudflare-Workers') {
    setTimeout(run, 0); // workerd delivers messages among the microtasks
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    run();
  };
  port2.postMessage(undefined);
}
