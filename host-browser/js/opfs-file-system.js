/** Files in the browser's own storage for the origin (OPFS). */
import { DirectoryFileSystem } from './directory-file-system.js';
import { FileSystemError } from './file-system.js';

/** Keeps files in the browser, beyond the page. No other program sees them. */
export class OpfsFileSystem extends DirectoryFileSystem {
  /**
   * Opens the files under a name, which other pages of the same origin can open as well.
   * @param {string} [name]
   * @param {{ limits?: object }} [options]
   */
  static async open(name = 'windlass', { limits } = {}) {
    if (!globalThis.navigator?.storage?.getDirectory) {
      throw new FileSystemError(
        'not-allowed',
        'the browser has no storage for files here: pages have it when served by https or from localhost. Use a MemoryFileSystem',
      );
    }
    try {
      const root = await navigator.storage.getDirectory();
      const directory = await root.getDirectoryHandle(name, { create: true });
      return new OpfsFileSystem(directory, `opfs:${name}`, { limits });
    } catch (error) {
      throw new FileSystemError('not-allowed', `the browser does not open its storage for files (${name}): ${error.message}`, { cause: error });
    }
  }
}
