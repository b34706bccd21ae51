/** Files in a directory that a person picked (File System Access). */
import { DirectoryFileSystem } from './directory-file-system.js';
import { FileSystemError } from './file-system.js';

/** What the browser calls the two kinds of access. */
const MODES = { read: 'read', write: 'readwrite' };

/** Works on the files of the person's own disk. */
export class PickedDirectoryFileSystem extends DirectoryFileSystem {
  /**
   * Opens a directory, and asks the person where the browser has to.
   * @param {FileSystemDirectoryHandle} directory
   * @param {{ access?: 'read' | 'write', limits?: object }} [options]
   */
  static async open(directory, { access = 'write', limits } = {}) {
    const mode = MODES[access];
    if (!mode) throw new Error(`there is no access ${JSON.stringify(access)} to files, only "read" and "write"`);
    if (!(await isGranted(directory, mode))) {
      const what = access === 'write' ? 'change files in' : 'read';
      throw new FileSystemError(
        'not-allowed',
        `the person does not let the page ${what} ${directory.name}: browsers ask when this is called in the handler of a click`,
      );
    }
    return new PickedDirectoryFileSystem(directory, `directory:${directory.name}`, { access, limits });
  }
}

async function isGranted(directory, mode) {
  // Browsers without these functions have no directory that needs them.
  if ((await directory.queryPermission?.({ mode })) === 'granted' || !directory.queryPermission) return true;
  try {
    return (await directory.requestPermission({ mode })) === 'granted';
  } catch {
    // Nobody clicked: it cannot ask now.
    return false;
  }
}
