/** The requests of one run, which begins again for each of them: none is sent twice. */
import { isSame } from './bytes.js';
import { MOST_REQUESTS, tooMany } from './component-network.js';

/** Ends an attempt that asked for an answer that is not there yet; the next one finds it. */
class NotAnswered extends Error {}

/**
 * A component does not wait. It is stopped where it sends a request, the request is sent, and the component runs again from the
 * beginning: its requests are answered from what is recorded here, as long as they are the same.
 */
export class RecordedRequests {
  #send;
  /** What was asked and answered, in this order. */
  #recorded = [];
  /** How many of them this attempt has asked. */
  #asked = 0;
  /** What this attempt asks first that is not answered. */
  #waiting;
  #fault;

  /** @param {(request: object, added?: object[]) => Promise<object>} send as that of `ComponentNetwork` */
  constructor(send) {
    this.#send = send;
  }

  /** An attempt begins. */
  begin() {
    this.#asked = 0;
  }

  /** The answer to a request. */
  ask(request, added) {
    // A component that catches what stops it gets no further.
    if (this.#fault) throw this.#fault;
    if (this.#waiting) throw new NotAnswered('a request is sent first');
    const known = this.#recorded[this.#asked];
    if (!known) {
      if (this.#recorded.length >= MOST_REQUESTS) throw (this.#fault = new Error(tooMany()));
      this.#waiting = { request, added, text: spelled(request, added) };
      throw new NotAnswered('a request is sent first');
    }
    if (known.text !== spelled(request, added) || !areSame(known.request.body, request.body)) {
      throw (this.#fault = new Error('it sent another request when it was run again, from the beginning, to get an answer'));
    }
    this.#asked += 1;
    return known.answer;
  }

  /** Whether the attempt has every answer that it asked for. If not, nothing of it counts. */
  isComplete() {
    return this.#waiting === undefined;
  }

  /** Why the run has no result, whatever the component made of it. */
  check() {
    if (this.#fault) throw this.#fault;
  }

  /** Before another attempt: sends what was asked. */
  async answer() {
    const { request, added, text } = this.#waiting;
    this.#recorded.push({ request, text, answer: await this.#send(request, added) });
    this.#waiting = undefined;
  }
}

/** Everything of a request but its body. */
function spelled({ method, url, headers }, added = []) {
  const secrets = added.map(({ header, secret, prefix, user }) => [header, secret, prefix, user]);
  return JSON.stringify([method, url, headers.map(({ name, value }) => [name, value]), secrets]);
}

function areSame(pieces, others) {
  return pieces.length === others.length && pieces.every((piece, i) => isSame(piece, others[i]));
}
