/** Components that the person has dropped on the page, each in a Worker of its own. They last as long as the tab. */
import { Plugin, declarationOf } from 'windlass';
import { Changing } from './changes.js';

/** The largest file that is looked at, as on native. */
const LARGEST = 128 << 20;

/** Where the tab finds what it had, once it is loaded anew: names of components and of their secrets, and no value. */
const STORED = 'windlass-demo-components';

export class Components extends Changing {
  /** What was granted and runs: `{ load, declaration, grant, plugin, remove }`; `load` is another number for each. */
  loaded = [];

  /** What this tab had before it was loaded anew, and has not again: `{ name, secrets }`, with the names of the secrets. */
  missing = stored();

  #loads = 0;

  /** The values of secrets, by component and name. They are nowhere else, and gone with the component or the tab. */
  #secrets = new Map();

  get plugins() {
    return this.loaded.map(({ plugin }) => plugin);
  }

  /** What an agent depends on. */
  get fingerprint() {
    return this.loaded.map(({ load }) => load).join();
  }

  /** The value of a secret: the option `pluginSecret` of an agent, which adds it to requests to the declared origins and to no others. */
  secret = (name, { plugin }) => this.#secrets.get(plugin)?.get(name);

  /**
   * What a file says of itself; nothing of it runs.
   *
   * @param {File} file
   * @returns {Promise<{ id: string, name: string, bytes: Uint8Array, declaration: object }>} `id` is another one for each look
   */
  async inspect(file) {
    const refuse = (why) => {
      throw new Error(`${file.name} is not a component that can be loaded: ${why}.`);
    };
    if (file.size > LARGEST) refuse(`it has ${file.size} bytes, and the limit is ${LARGEST}`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const declaration = said(bytes, refuse);
    check(declaration);
    return { id: crypto.randomUUID(), name: file.name, bytes, declaration };
  }

  /**
   * Loads a component with what it was granted; agents have it from the next prompt on.
   *
   * @param {{ bytes: Uint8Array, declaration: object }} offered
   * @param {object} grant as `WorkerPlugin` takes it
   * @param {Map<string, string>} secrets the value of each secret that is granted
   */
  async load({ bytes, declaration }, grant, secrets) {
    const { name } = declaration;
    if (this.loaded.some((other) => other.declaration.name === name)) {
      throw new Error(`A component ${name} is loaded already: remove that one first.`);
    }
    const { componentInWorker } = await import('./component-in-worker.js');
    const running = await componentInWorker(bytes, declaration, grant);
    this.#loads += 1;
    this.#secrets.set(name, secrets);
    this.loaded = [...this.loaded, { load: this.#loads, declaration, grant, ...running }];
    this.forget(name);
  }

  /** Ends the Worker of a component; no call may be running. */
  async remove(component) {
    this.loaded = this.loaded.filter((other) => other !== component);
    this.#secrets.delete(component.declaration.name);
    this.#keep();
    await component.remove();
  }

  /** A component that the tab had is not missed any more. */
  forget(name) {
    this.missing = this.missing.filter((other) => other.name !== name);
    this.#keep();
  }

  #keep() {
    const names = this.loaded.map(({ declaration: { name }, grant: { secrets = [] } }) => ({ name, secrets }));
    try {
      sessionStorage.setItem(STORED, JSON.stringify([...this.missing, ...names]));
    } catch {
      // Nothing says so then when the tab is loaded anew.
    }
    this.changed();
  }
}

function said(bytes, refuse) {
  try {
    return declarationOf(bytes);
  } catch (error) {
    return refuse(error.message);
  }
}

/** Throws where a declaration has what no host takes, so that everything that is shown of it is what it says. */
function check(declaration) {
  const never = () => Promise.reject(new Error('it is only looked at'));
  // Whoever makes a plugin of it checks it.
  new Plugin(declaration, never, never);
}

/** What is kept, as far as it is what it should be. */
function stored() {
  const isText = (value) => typeof value === 'string';
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    return kept.filter(({ name, secrets }) => isText(name) && secrets.every(isText));
  } catch {
    return [];
  }
}

/** How long a call may take, in milliseconds, and the largest memory, in bytes, where nothing less is declared: see `WorkerPlugin`. */
const MOST = { timeout_ms: 120_000, memory_bytes: 256 << 20 };

/** The limits of a component: what it declares, within what a page allows. */
export function limitsOf({ limits = {} }) {
  const within = (name) => Math.min(limits[name] ?? MOST[name], MOST[name]);
  return { seconds: within('timeout_ms') / 1_000, mebibytes: within('memory_bytes') / (1 << 20) };
}
