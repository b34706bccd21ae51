/** The files of a page for a component in a Worker: a file system there whose answers come from the page by messages. */
import { childOf, parentOf } from './file-path.js';
import { FileSystemError, limitsOf } from './file-system.js';
import { checkedGrant } from './file-view.js';
import { Grant } from './wasm.js';

/** In the Worker: a `FileSystem` that asks the page. */
export class WorkerFileSystem {
  #ask;

  /**
   * @param {(method: string, argument: unknown) => Promise<unknown>} ask
   * @param {{ access: 'read' | 'write', limits: object }} facts
   */
  constructor(ask, { access, limits }) {
    this.#ask = async (method, argument) => {
      const { value, failure } = await ask(method, argument);
      if (failure) throw failure.kind ? new FileSystemError(failure.kind, failure.message) : new Error(failure.message);
      return value;
    };
    this.access = access;
    this.limits = limits;
  }

  stat(path) {
    return this.#ask('stat', path);
  }

  list(path) {
    return this.#ask('list', path);
  }

  read(path) {
    return this.#ask('read', path);
  }

  change(changes) {
    return this.#ask('change', changes);
  }
}

/** In the page: answers what a Worker asks of a file system, as far as it was granted. */
export class ServedFiles {
  #fileSystem;
  #rules;
  #roots;
  /** The files of which the Worker was given content, or which it has written, by their paths: it cannot have seen others. */
  handled = new Set();

  constructor(fileSystem, given) {
    const grant = checkedGrant(given);
    this.#fileSystem = fileSystem;
    this.#rules = new Grant(JSON.stringify(grant));
    this.#roots = grant.roots.map(({ path }) => path).filter((path) => this.#rules.access(path));
  }

  /** What the Worker has to know of it. */
  get facts() {
    const { access = 'write' } = this.#fileSystem;
    return { access, limits: limitsOf(this.#fileSystem) };
  }

  async answer(method, argument) {
    try {
      return { value: await this.#answer(method, argument) };
    } catch (error) {
      return { failure: { kind: error?.kind, message: error?.message ?? String(error) } };
    }
  }

  #answer(method, argument) {
    switch (method) {
      case 'stat':
        return this.#isShown(argument) ? this.#stat(argument) : undefined;
      case 'list':
        return this.#isShown(argument) ? this.#list(argument) : undefined;
      case 'read':
        return this.#rules.access(argument) ? this.#read(argument) : undefined;
      case 'change':
        return this.#change(argument);
      default:
        throw new Error(`a file system has no ${method}`);
    }
  }

  async #stat(path) {
    return this.#told(path, await this.#fileSystem.stat(path));
  }

  async #read(path) {
    const found = await this.#fileSystem.read(path);
    if (found) this.handled.add(path);
    return found;
  }

  async #list(path) {
    const entries = await this.#fileSystem.list(path);
    return entries?.filter(({ name }) => this.#isShown(childOf(path, name))).map((stat) => this.#told(childOf(path, stat.name), stat));
  }

  #told(path, stat) {
    // An empty file is read by finding that out.
    if (stat?.kind === 'file' && stat.size === 0) this.handled.add(path);
    return plain(stat);
  }

  async #change(changes) {
    const refused = changes.find(({ type, path }) => !(type === 'createDirectory' ? this.#mayMake(path) : this.#rules.access(path) === 'write'));
    if (refused) throw new FileSystemError('not-allowed', `${refused.path} is not granted to be changed`);
    await this.#fileSystem.change(changes);
    for (const { type, path } of changes) if (type === 'write') this.handled.add(path);
  }

  /** Whether something is granted there, or behind it. */
  #isShown(path) {
    return this.#rules.access(path) !== undefined || this.#leadsTo(path, () => true);
  }

  #mayMake(path) {
    return this.#rules.access(path) === 'write' || this.#leadsTo(path, (root) => this.#rules.access(root) === 'write');
  }

  #leadsTo(path, isWanted) {
    return this.#roots.some((root) => {
      for (let above = root; above !== '/'; above = parentOf(above)) if (parentOf(above) === path) return isWanted(root);
      return false;
    });
  }
}

/** What can be sent: a listing may have functions that read. */
function plain(stat) {
  if (!stat) return undefined;
  const { name, kind, size, modified, version } = stat;
  return { name, kind, size, modified, version };
}
