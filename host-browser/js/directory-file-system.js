/** Files in a directory that the browser hands out (`FileSystemDirectoryHandle`): of its own storage, or one that a person picked. */
import { childNamed, createDirectory, isListed, isPartOfWrite, nothing, remove, versionOf, write } from './directory-entries.js';
import { absolute, childOf, namesOf, parentOf } from './file-path.js';
import { FileSystemError, limitsOf } from './file-system.js';
import { READ } from './file-tree.js';
import { locked } from './named-locks.js';

/** How many files are written at the same time: browsers look at each that comes to a disk. */
const AT_ONCE = 16;

/** How often a file is opened anew that is replaced while it is read, and how browsers say that. */
const READING_TRIES = 20;
const REPLACED = ['NotFoundError', 'NotReadableError'];

/**
 * Nothing is found by asking for a name: on many platforms `.ENV` opens `.env`, or a short name a long one. A name is what a listing
 * of its directory has.
 */
export class DirectoryFileSystem {
  #directory;
  #place;

  /**
   * @protected
   * @param {FileSystemDirectoryHandle} directory stands at `/`
   * @param {string} place its name for people and for locks
   * @param {{ access?: 'read' | 'write', limits?: object }} options
   */
  constructor(directory, place, { access = 'write', limits = {} }) {
    this.#directory = directory;
    this.#place = place;
    this.access = access;
    this.limits = limits;
    limitsOf(this);
  }

  async stat(path) {
    const found = await this.#find(absolute('/', path));
    if (!found) return undefined;
    if (found.kind === 'directory') return directoryStat();
    const file = await this.#file(path, found);
    return file && fileStat(file);
  }

  async list(path) {
    const at = absolute('/', path);
    const found = await this.#find(at);
    if (found?.kind !== 'directory') return undefined;
    const handles = [];
    await this.#told(at, async () => {
      for await (const [name, handle] of found.entries()) {
        if (!isPartOfWrite(name)) handles.push([name, handle]);
      }
    });
    const entries = await Promise.all(handles.map(([name, handle]) => this.#entry(childOf(at, name), found, name, handle)));
    return entries.filter((entry) => entry);
  }

  async read(path) {
    const at = absolute('/', path);
    return this.#content(at, () => this.#find(at));
  }

  /** What other tabs change through this class meanwhile waits (Web Locks). Each file is replaced as a whole. */
  async change(changes) {
    const at = changes.map((change) => ({ ...change, path: absolute('/', change.path) }));
    await locked(`windlass:files:${this.#place}`, async () => {
      if (this.access !== 'write') throw new FileSystemError('not-allowed', `the files of ${this.#place} may only be read`);
      for (const { path, replaces } of at) await this.#expect(path, replaces);
      await this.#apply(at);
    });
  }

  async #apply(changes) {
    const made = [];
    for (const group of together(changes)) {
      // What was looked up for one group may be gone after it.
      const parents = new Map();
      const done = await Promise.allSettled(group.map((change) => this.#make(change, parents)));
      made.push(...group.filter((_, index) => done[index].status === 'fulfilled').map(({ path }) => path));
      const error = done.find(({ status }) => status === 'rejected')?.reason;
      if (!error) continue;
      const others = made.length > 0 ? `changed all the same: ${made.join(', ')}` : 'nothing was changed';
      throw new FileSystemError(error.kind ?? 'failed', `${error.message} (${others})`, { cause: error });
    }
  }

  async #expect(path, replaces) {
    if (replaces === undefined) return;
    const now = (await this.stat(path))?.version ?? null;
    if (now !== replaces) throw new FileSystemError('changed', `${path} is not what it was when it was read`);
  }

  async #make({ type, path, content }, parents) {
    if (path === '/') throw new FileSystemError('exists', '/ is a directory that stays as it is');
    const make = { write, createDirectory, remove }[type];
    if (!make) throw new TypeError(`there is no change of the type ${JSON.stringify(type)}`);
    const above = parentOf(path);
    if (!parents.has(above)) parents.set(above, this.#find(above));
    const parent = await parents.get(above);
    if (parent?.kind !== 'directory') throw new FileSystemError('missing', `there is no directory ${above}`);
    await this.#told(path, async () => {
      const name = namesOf(path).at(-1);
      const there = await childNamed(parent, name);
      if (there && !(await isListed(parent, name))) {
        throw new FileSystemError('refused', `${path} is another spelling of a name that is there already, or a link: use a name that is listed`);
      }
      await make(parent, name, there, { path, content });
    });
  }

  /** The handle of what is at a path. */
  async #find(path) {
    let found = this.#directory;
    let at = '/';
    for (const name of namesOf(path)) {
      if (found?.kind !== 'directory') return undefined;
      const directory = found;
      at = childOf(at, name);
      // What is not listed is another spelling, or a link, whatever the browser says of it.
      found = await this.#told(at, async () => {
        const there = await childNamed(directory, name).catch((error) => ({ error }));
        if (!there || !(await isListed(directory, name))) return undefined;
        if (there.error) throw there.error;
        return there;
      });
    }
    return found;
  }

  async #entry(path, directory, name, handle) {
    if (handle.kind === 'directory') return { name, ...directoryStat() };
    const file = await this.#file(path, handle);
    const again = () => this.#told(path, () => directory.getFileHandle(name).catch(nothing));
    return file && { name, ...fileStat(file), [READ]: () => this.#content(path, again, file) };
  }

  /** Reads a file that was opened before, or opens it. */
  async #content(path, find, opened) {
    for (let tries = 1, file = opened; ; tries += 1, file = undefined) {
      file ??= await this.#opened(path, await find());
      if (!file) return undefined;
      try {
        return { ...fileStat(file), content: new Uint8Array(await file.arrayBuffer()) };
      } catch (error) {
        // It was replaced before it was read.
        if (tries < READING_TRIES && REPLACED.includes(error.name)) continue;
        throw this.#failure(path, error);
      }
    }
  }

  async #opened(path, handle) {
    return handle?.kind === 'file' ? this.#file(path, handle) : undefined;
  }

  /** The file of a handle, unless it has gone. */
  async #file(path, handle) {
    return this.#told(path, () => handle.getFile().catch(nothing));
  }

  /** Says what went wrong in terms of files. */
  async #told(path, work) {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(path, error);
    }
  }

  #failure(path, error) {
    if (error instanceof FileSystemError) return error;
    const [kind, said] = FAILURES[error.name] ?? ['failed', error.message];
    const ask = kind === 'not-allowed' ? ` (${error.message}): ask the person for ${this.#place} again` : '';
    return new FileSystemError(kind, `${path}: ${said}${ask}`, { cause: error });
  }
}

/** Groups of changes whose order does not matter: files that are written one after another, each only once in any spelling. */
function together(changes) {
  const groups = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const fits = (other) => other.type === 'write' && change.type === 'write' && spelled(other.path) !== spelled(change.path);
    if (group && group.length < AT_ONCE && group.every(fits)) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** What paths have in common that a platform may take for one. */
function spelled(path) {
  return path.normalize('NFKC').toUpperCase().toLowerCase();
}

/** What the errors of browsers mean here. */
const FAILURES = {
  QuotaExceededError: ['full', 'the storage that the browser has for this page is full, or the disk is: delete what is not needed any more'],
  NotAllowedError: ['not-allowed', 'the browser does not let the page have it'],
  SecurityError: ['not-allowed', 'the browser does not let the page have it'],
  NoModificationAllowedError: ['locked', 'it is being written by somebody else, perhaps another tab: try again'],
  InvalidStateError: ['locked', 'it is being written by somebody else, perhaps another tab: try again'],
  InvalidModificationError: ['not-empty', 'the directory is not empty'],
  NotFoundError: ['missing', 'it is not there any more, or it is a link, which browsers do not follow'],
  TypeError: ['refused', 'the platform refuses the name'],
};

/** These interfaces say no time of directories, and a directory has no version. */
function directoryStat() {
  return { kind: 'directory', size: 0, modified: 0, version: '' };
}

function fileStat(file) {
  return { kind: 'file', size: file.size, modified: file.lastModified, version: versionOf(file) };
}
