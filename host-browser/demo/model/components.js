/** Components that the person has dropped on the page. They last as long as the tab. */
import { declarationOf, Plugin } from 'windlass';
import { Changing } from './changes.js';

/** The largest file that is looked at, as on native. */
const LARGEST = 128 << 20;

export class Components extends Changing {
  /** What was granted and runs: `{ declaration, grant, plugin }`. */
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
    // Several megabytes, which only those load who drop a component.
    const { transpiled } = await import('./transpiled.js');
    const { instantiate, module } = await transpiled(bytes);
    const plugin = new Plugin(declaration, instantiate, module, grant);
    this.loaded = [...this.loaded, { declaration, grant, plugin }];
    this.changed();
  }

  remove(component) {
    this.loaded = this.loaded.filter((other) => other !== component);
    this.changed();
  }
}
