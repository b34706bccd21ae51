/** Files that are waited for, and functions in the place of components that work on them. */
import { load, windlass } from './package-under-test.js';

const { runOnFiles } = await load('call-files.js');
const { MemoryFileSystem } = windlass;

/** Files in memory that are waited for, as those of an embedder. It counts what it is asked. */
export class Waited {
  asked = { stat: 0, list: 0, read: [], change: 0 };

  constructor(files, { access, limits } = {}) {
    this.files = files instanceof MemoryFileSystem ? files : new MemoryFileSystem({ files });
    this.access = access;
    this.limits = limits;
  }

  async stat(path) {
    this.asked.stat += 1;
    return this.files.stat(path);
  }

  async list(path) {
    this.asked.list += 1;
    return this.files.list(path);
  }

  async read(path) {
    this.asked.read.push(path);
    return this.files.read(path);
  }

  async change(changes) {
    this.asked.change += 1;
    await this.files.change(changes);
  }
}

export const WRITE = { cwd: '/w', roots: [{ path: '/w', access: 'write' }], deny: [] };

/** Runs a function in the place of a component. */
export function component(fileSystem, run, { grant = WRITE, signal } = {}) {
  return runOnFiles(fileSystem, grant, signal, ({ filesystem }) => run(filesystem().roots()[0].directory));
}

export const bytes = (text) => new TextEncoder().encode(text);
export const PLAIN = { createNew: false, createParents: false };
