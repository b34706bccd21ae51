/** A tree of files that the agent and the person work on. */
import { Changing } from './changes.js';

/** Bytes of the largest file that is shown. */
const LARGEST_SHOWN = 2 << 20;

export class Workspace extends Changing {
  /** Another number whenever files may have changed: whoever shows them reads them anew. */
  revision = 0;
  /** What went wrong with its files: one message. */
  problem;
  /** The file that the person looks at, and what they wrote and did not save, by path: both outlive a look at other panels. */
  shownPath;
  drafts = new Map();
  #channel;

  /**
   * @param {object} about
   * @param {string} about.id by which sessions name it
   * @param {string} about.name for the person
   * @param {string} about.cwd the working directory, below which all of it is
   * @param {import('windlass').FileSystem} [about.files]
   */
  constructor({ id, name, cwd, files }) {
    super();
    Object.assign(this, { id, name, cwd, files });
    // All tabs of the page see the same files.
    this.#channel = new BroadcastChannel(`windlass-demo-files:${id}`);
    this.#channel.onmessage = ({ data: path }) => this.changedElsewhere(path);
  }

  /** Whether the browser has to ask the person before the page has the files again. */
  get isClosed() {
    return false;
  }

  /** Whether the files of the demonstration are in it, which can be put back. */
  get hasBookshop() {
    return false;
  }

  /**
   * The entries of a directory, directories first.
   *
   * @param {string} [path] relative to the working directory, as all paths here
   * @returns {Promise<{ name: string, kind: 'file' | 'directory' }[]>}
   */
  async list(path = '') {
    const entries = (await this.files.list(this.at(path))) ?? [];
    const isDirectory = ({ kind }) => (kind === 'directory' ? 0 : 1);
    return entries.sort((a, b) => isDirectory(a) - isDirectory(b) || (a.name < b.name ? -1 : 1));
  }

  /**
   * A file as it is shown.
   *
   * @returns {Promise<{ text?: string, version: string, unshown?: string } | undefined>} `unshown`: why there is no text; `undefined`
   *   where there is no file
   */
  async file(path) {
    const stat = await this.files.stat(this.at(path));
    if (stat?.kind !== 'file') return undefined;
    if (stat.size > LARGEST_SHOWN) return { version: stat.version, unshown: `has ${stat.size.toLocaleString('en')} bytes` };
    const { content, version } = await this.files.read(this.at(path));
    try {
      return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content), version };
    } catch {
      return { version, unshown: 'is no text' };
    }
  }

  async has(path) {
    return (await this.files.stat(this.at(path))) !== undefined;
  }

  /**
   * What the person wrote.
   *
   * @param {string | null} replaces the version that it takes the place of, `null` for a new file; where something else is there by
   *   then, it rejects with an error of the kind `changed`
   */
  async write(path, text, replaces) {
    const names = path.split('/').slice(0, -1);
    const above = names.map((_, index) => ({ type: 'createDirectory', path: this.at(names.slice(0, index + 1).join('/')) }));
    const content = new TextEncoder().encode(text);
    await this.files.change([...above, { type: 'write', path: this.at(path), content, replaces }]);
    await this.keepChanges();
  }

  /** Tools or the person may have changed files: they are kept, and shown anew here and in other tabs. */
  async keepChanges() {
    this.tellOthers();
    this.refresh();
  }

  /** Files may be others than those that are shown. */
  refresh() {
    this.revision += 1;
    this.changed();
  }

  /** @protected Another tab has changed files. */
  changedElsewhere() {
    this.refresh();
  }

  /** @protected */
  tellOthers(path) {
    this.#channel.postMessage(path);
  }

  /** The path that tools know it by. */
  at(path) {
    if (path === '') return this.cwd;
    return this.cwd === '/' ? `/${path}` : `${this.cwd}/${path}`;
  }
}
