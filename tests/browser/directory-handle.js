/**
 * A `FileSystemDirectoryHandle` in memory, as far as file systems use it, for what no headless browser shows: platforms that take
 * several spellings for one name, permissions that are asked for and withdrawn, disks that are full.
 *
 * @param {object} [platform]
 * @param {(name: string) => string} [platform.spelled] what all spellings of a name have in common
 * @param {string} [platform.permission] what `queryPermission` says
 * @param {() => string} [platform.asked] what the person says
 * @param {boolean} [platform.writes] whether files can be written here, and not in a Worker only; default yes
 * @param {string[]} [platform.links] names of links, which are not shown and are there all the same
 * @param {(name: string) => string | undefined} [platform.fails] the name of the error with which writing a file ends
 */
export function directoryHandle(platform = {}, name = 'project') {
  return new DirectoryHandle(name, platform);
}

const error = (name, message = name) => new DOMException(message, name);

class DirectoryHandle {
  kind = 'directory';
  #platform;
  /** By what all spellings have in common. */
  #children = new Map();

  constructor(name, platform) {
    this.name = name;
    this.#platform = platform;
  }

  async queryPermission() {
    return this.#platform.permission ?? 'granted';
  }

  async requestPermission() {
    return this.#platform.asked();
  }

  async *entries() {
    for (const child of this.#children.values()) yield [child.name, child];
  }

  async *keys() {
    for (const child of this.#children.values()) yield child.name;
  }

  async getFileHandle(name, options) {
    return this.#child('file', name, options, () => new FileHandle(name, this.#platform));
  }

  async getDirectoryHandle(name, options) {
    return this.#child('directory', name, options, () => new DirectoryHandle(name, this.#platform));
  }

  async removeEntry(name) {
    if (this.#platform.links?.includes(name)) throw new Error('the link would be removed');
    const child = this.#children.get(this.#key(name));
    if (!child) throw error('NotFoundError');
    if (child.kind === 'directory' && !(await child.keys().next()).done) throw error('InvalidModificationError');
    this.#children.delete(this.#key(name));
  }

  #child(kind, name, { create = false } = {}, make) {
    if (this.#platform.links?.includes(name)) {
      if (create) return new Link(name);
      throw error('NotFoundError');
    }
    if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes(':')) throw new TypeError('Name is not allowed.');
    const key = this.#key(name);
    if (!this.#children.has(key) && !create) throw error('NotFoundError');
    if (!this.#children.has(key)) this.#children.set(key, make());
    const child = this.#children.get(key);
    if (child.kind !== kind) throw error('TypeMismatchError');
    return child;
  }

  #key(name) {
    return this.#platform.spelled?.(name) ?? name;
  }
}

class Link {
  kind = 'file';

  constructor(name) {
    this.name = name;
  }

  async getFile() {
    throw error('NotFoundError');
  }

  async createWritable() {
    throw new Error('the link would be written');
  }
}

let time = Date.UTC(2026, 0, 1);

class FileHandle {
  kind = 'file';
  #platform;
  #file = new File([], 'empty', { lastModified: time });

  constructor(name, platform) {
    this.name = name;
    this.#platform = platform;
    if (platform.writes === false) this.createWritable = undefined;
  }

  async getFile() {
    return this.#file;
  }

  async createWritable() {
    let content;
    return {
      write: async (given) => {
        content = Uint8Array.from(given);
      },
      close: async () => {
        const failure = this.#platform.fails?.(this.name);
        if (failure) throw error(failure);
        time += 1;
        this.#file = new File([content], this.name, { lastModified: time });
      },
      abort: async () => {},
    };
  }
}
