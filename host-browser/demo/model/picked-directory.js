/** A directory on the person's disk, which they picked (File System Access). */
import { FileSystemError, PickedDirectoryFileSystem } from 'windlass';
import { Workspace } from './workspace.js';

export class PickedDirectory extends Workspace {
  #handle;
  #isOpen = false;

  /** @private */
  constructor(id, handle) {
    const name = nameOf(handle);
    super({ id, name, cwd: `/${name}`, files: closedFiles(name) });
    this.#handle = handle;
    // The person's own editor changes files, too, while they do not look here.
    addEventListener('focus', () => this.refresh());
  }

  /**
   * A directory whose handle is there. Where the browser does not remember that the person let the page have it, it is closed until
   * `allow`.
   */
  static async open(id, handle) {
    const directory = new PickedDirectory(id, handle);
    if ((await handle.queryPermission?.({ mode: 'readwrite' })) !== 'prompt') await directory.allow().catch(() => {});
    return directory;
  }

  get isClosed() {
    return !this.#isOpen;
  }

  /** Asks the person for the directory again: call it in the handler of a click. */
  async allow() {
    this.files = await PickedDirectoryFileSystem.open(new Above(this.#handle, this.name));
    this.#isOpen = true;
    this.refresh();
  }

  async list(path) {
    try {
      return await super.list(path);
    } catch (error) {
      // The person has taken the permission back.
      if (error.kind === 'not-allowed' && this.#isOpen) {
        this.#isOpen = false;
        this.changed();
      }
      throw error;
    }
  }
}

/**
 * The directory above the picked one, as far as the page may know it: it has one entry. So the picked one has its name in every path,
 * and nothing in it has the path of something that is a shell's own, such as `/bin`.
 */
class Above {
  kind = 'directory';
  #picked;

  constructor(picked, name) {
    this.#picked = picked;
    this.name = name;
  }

  async queryPermission(mode) {
    return this.#picked.queryPermission?.(mode) ?? 'granted';
  }

  async requestPermission(mode) {
    return this.#picked.requestPermission(mode);
  }

  async *entries() {
    yield [this.name, this.#picked];
  }

  async *keys() {
    yield this.name;
  }

  async getDirectoryHandle(name, { create = false } = {}) {
    if (name === this.name) return this.#picked;
    throw create ? outside() : new DOMException(`there is no ${name}`, 'NotFoundError');
  }

  async getFileHandle(name, { create = false } = {}) {
    if (name === this.name) throw new DOMException(`${name} is a directory`, 'TypeMismatchError');
    throw create ? outside() : new DOMException(`there is no ${name}`, 'NotFoundError');
  }

  async removeEntry() {
    throw outside();
  }
}

function outside() {
  return new DOMException('it is outside the directory that was picked', 'NotAllowedError');
}

/** The root of a disk has a name that is none in a path. */
function nameOf({ name }) {
  return /^[^/\\:]+$/.test(name) && name !== '.' && name !== '..' ? name : 'directory';
}

/** Files of which there are none before the person has allowed it. */
function closedFiles(name) {
  const refuse = async () => {
    throw new FileSystemError('not-allowed', `the person has not let the page have the directory ${name} again`);
  };
  return { stat: refuse, list: refuse, read: refuse, change: refuse };
}
