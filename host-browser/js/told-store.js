/** The store of a session, whose refusals a person is told with their kind: the engine passes on their words alone. */

/** What a store answers later. */
const ASKED = ['create', 'open', 'append', 'load', 'put', 'extend', 'get', 'list', 'delete', 'settings', 'replaceSettings'];

/** What it does at once. */
const DONE = ['release', 'place', 'documentPlace', 'settingsPlace', 'close'];

export class ToldStore {
  /** By which it refused what it was asked last. */
  #refused;

  /** @param {object} store see `SessionStore` in `stored-sessions.d.ts` */
  constructor(store) {
    for (const name of DONE) this[name] = (...given) => store[name](...given);
    for (const name of ASKED) {
      this[name] = async (...given) => {
        try {
          const answer = await store[name](...given);
          this.#refused = undefined;
          return answer;
        } catch (reason) {
          this.#refused = reason instanceof Error ? reason : new Error(`the store of the sessions failed: ${reason ?? 'it gave no reason'}`);
          throw this.#refused;
        }
      };
    }
  }

  /** The error of a session that ended for this reason, with the kind of what was refused just before. */
  errorOf(reason) {
    const cause = this.#refused;
    return Object.assign(new Error(reason, { cause }), cause?.kind && { kind: cause.kind });
  }
}
