/** Components that the person has dropped on the page, each in a Worker of its own. They last as long as the tab. */
import { declarationOf } from 'windlass';
import { Changing } from './changes.js';

/** The largest file that is looked at, as on native. */
const LARGEST = 128 << 20;

export class Components extends Changing {
  /** What was granted and runs: `{ declaration, grant, plugin, remove }`. */
  loaded = [];

  get plugins() {
    return this.loaded.map(({ plugin }) => plugin);
  }

  /** What an agent depends on. */
  get fingerprint() {
    return this.loaded.map(({ declaration, grant }) => `${declaration.name} ${JSON.stringify(grant)}`).join();
  }

  /**
   * What a file says of itself; nothing of it runs.
   *
   * @param {File} file
   * @returns {Promise<{ name: string, bytes: Uint8Array, declaration: object }>}
   */
  async inspect(file) {
    const refuse = (why) => {
      throw new Error(`${file.name} is not a component that can be loaded: ${why}.`);
    };
    if (file.size > LARGEST) refuse(`it has ${file.size} bytes, and the limit is ${LARGEST}`);
    const bytes = new Uint8Array(await file.arrayBuffer());
    try {
      return { name: file.name, bytes, declaration: declarationOf(bytes) };
    } catch (error) {
      return refuse(error.message);
    }
  }

  /** Loads a component with what it was granted; agents have it from the next prompt on. */
  async load({ bytes, declaration }, grant) {
    if (this.loaded.some((other) => other.declaration.name === declaration.name)) {
      throw new Error(`A component ${declaration.name} is loaded already: remove that one first.`);
    }
    const { componentInWorker } = await import('./component-in-worker.js');
    this.loaded = [...this.loaded, { declaration, grant, ...(await componentInWorker(bytes, declaration, grant)) }];
    this.changed();
  }

  /** Ends the Worker of a component; no call may be running. */
  async remove(component) {
    this.loaded = this.loaded.filter((other) => other !== component);
    this.changed();
    await component.remove();
  }
}

/** How long a call may take, in milliseconds, and the largest memory, in bytes, where nothing less is declared: see `WorkerPlugin`. */
const MOST = { timeout_ms: 120_000, memory_bytes: 256 << 20 };

/** The limits of a component: what it declares, within what a page allows. */
export function limitsOf({ limits = {} }) {
  const within = (name) => Math.min(limits[name] ?? MOST[name], MOST[name]);
  return { seconds: within('timeout_ms') / 1_000, mebibytes: within('memory_bytes') / (1 << 20) };
}