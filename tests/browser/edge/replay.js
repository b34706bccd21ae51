/** The runtime that runs things once more. */
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { Workerd } from './workerd.js';

const FILES = ['declaration.js', 'files.js', 'files.core.wasm', 'files.core2.wasm', 'files.core3.wasm'].map((name) => `files/${name}`);

export class ReplayWorker {
  #workerd;

  /** @param {string} directory the package */
  static async start(directory) {
    const files = [...FILES, 'demo/demo.js'].map((name) => [name, join(directory, name)]);
    const run = fileURLToPath(new URL('../demo-run.js', import.meta.url));
    const worker = new ReplayWorker();
    worker.#workerd = new Workerd({ directory, worker: 'replay-worker.js', files: { ...Object.fromEntries(files), 'demo-run.js': run } });
    await worker.#workerd.start();
    return worker;
  }

  /** The messages of the demonstration and its outcome, each a line. */
  demo(bundle) {
    return this.#ask('/demo', bundle);
  }

  /** What is in a journal, if it is the same here. */
  async journal(journal) {
    return JSON.parse(await this.#ask('/journal', journal));
  }

  async #ask(path, body) {
    const response = await fetch(`${this.#workerd.url}${path}`, { method: 'POST', body });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text;
  }

  stop() {
    return this.#workerd.remove();
  }
}
