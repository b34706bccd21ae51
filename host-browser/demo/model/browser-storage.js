/** Files in the browser's own storage for the page (OPFS). They begin as a copy of the demonstration's project. */
import { OpfsFileSystem } from 'windlass';
import { Workspace } from './workspace.js';

/** Under which the files of the page are kept. */
const NAME = 'windlass-demo';

export class BrowserStorage extends Workspace {
  #original;

  /** @private */
  constructor({ cwd, files: original }, files) {
    super({ id: 'browser', name: 'Files in this browser', cwd, files });
    this.#original = original;
  }

  static async open(bundle) {
    const workspace = new BrowserStorage(bundle, await OpfsFileSystem.open(NAME));
    if (!(await workspace.files.stat(bundle.cwd))) {
      await workspace.reset();
      // Otherwise a browser may delete it when the disk is full. Some ask the person, who may say no.
      navigator.storage.persist?.().catch(() => {});
    }
    return workspace;
  }

  get hasBookshop() {
    return true;
  }

  /** Makes the files of the demonstration what they were; files that were added stay. */
  async reset() {
    const paths = this.#original.map(({ path }) => path);
    const directories = new Set(['', ...paths.flatMap(above)]);
    const encoder = new TextEncoder();
    await this.files.change([
      ...[...directories].map((path) => ({ type: 'createDirectory', path: this.at(path) })),
      ...this.#original.map(({ path, text }) => ({ type: 'write', path: this.at(path), content: encoder.encode(text) })),
    ]);
    await this.keepChanges();
  }
}

/** The directories above a path, the outer ones first. */
function above(path) {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
