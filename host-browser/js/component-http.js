/** `windlass:host/http` and `windlass:host/secrets` for one attempt of a run. */
import { noting } from './component-network.js';
import { judged, refused } from './component-request.js';

/**
 * @param {object} grant
 * @param {import('./network-grant.js').NetworkGrant} grant.network
 * @param {object} call
 * @param {import('./recorded-requests.js').RecordedRequests} [call.requests] left out where no network is granted
 * @param {(level: string, message: string) => void} call.log
 * @param {() => void} count called before everything that is asked of an answer; may throw
 */
export function networkOf({ network }, { requests, log }, count) {
  const note = noting(log);
  const sent = (request, added) => {
    if (!requests) throw refused('this component was granted no network');
    // What is not granted is refused at once; whoever sends the rest judges it once more.
    judged(request, network, note);
    const { failure, response } = requests.ask(copyOf(request), added);
    if (failure) throw failure;
    const { status, headers, body } = response;
    return { status, headers, body: new Body(body, count) };
  };
  return {
    http: { Body, send: (request) => sent(request) },
    secrets: { available: (name) => network.audience(name) !== undefined, send: sent },
  };
}

/** The resource `body`: an answer, which is there as a whole. */
class Body {
  #rest;
  #count;

  constructor(bytes, count) {
    this.#rest = bytes;
    this.#count = count;
  }

  read(max) {
    this.#count();
    const piece = this.#rest.slice(0, max);
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}

/** A request that outlives the memory of the component. */
function copyOf({ method, url, headers, body }) {
  return { method, url, headers: headers.map(({ name, value }) => ({ name, value })), body: body.map((piece) => Uint8Array.from(piece)) };
}
