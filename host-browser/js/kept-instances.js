/** Instances of a component that declares to keep its memory from call to call: one for each session. */
import { handedOut, importsOf } from './component-imports.js';

/** Instances that wait for a call, of one component; the one that has waited longest ends where there are more. As natively. */
const MOST_WAITING = 16;

export class KeptInstances {
  /** Those that wait, by session; the one that has waited longest first. */
  #waiting = new Map();

  /** The instance of a session, if there is one. It is not kept unless it is put back: whatever goes wrong ends it. */
  take(session) {
    const instance = this.#waiting.get(session);
    this.#waiting.delete(session);
    return instance;
  }

  put(session, instance) {
    if (!instance.canLast) return;
    this.#waiting.set(session, instance);
    const [longest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING) this.#waiting.delete(longest);
  }
}

/** An instance, and what its calls have: each its own grant, limits and log. */
export class Instance {
  #may;
  /** Handles of files, which outlive calls as names. */
  #lasting = {};
  #interfaces;
  #exports;
  #usesWasi = false;

  /** @param {object} may see `importsOf` */
  constructor(may) {
    this.#may = may;
  }

  /** Whether another call can run in it: what WASI handed out belongs to its call. */
  get canLast() {
    return !this.#usesWasi;
  }

  /**
   * A call begins.
   *
   * @param {object} call see `importsOf`
   * @param {(imports: object) => Promise<object>} instantiate makes the instance, for the first call
   * @returns {Promise<{ exports: object, finish: () => void }>}
   */
  async begin(call, instantiate) {
    const { interfaces, finish } = importsOf(this.#may, call, this.#lasting);
    this.#interfaces = interfaces;
    this.#exports ??= await instantiate(this.#imports(interfaces));
    return { exports: this.#exports, finish };
  }

  /** Imports behind which each call has its own. */
  #imports(interfaces) {
    const behind = (name, functions) =>
      Object.fromEntries(Object.entries(functions).map(([key, value]) => [key, isResource(key) ? value : (...given) => this.#interfaces[name][key](...given)]));
    const all = Object.fromEntries(Object.entries(interfaces).map(([name, functions]) => [name, behind(name, functions)]));
    return new Proxy(handedOut(all), {
      get: (imports, name) => {
        if (String(name).startsWith('wasi:')) this.#usesWasi = true;
        return imports[name];
      },
    });
  }
}

/** Classes, which are the same for all calls, begin with a capital letter as jco names them. */
function isResource(name) {
  return /^[A-Z]/.test(name);
}
