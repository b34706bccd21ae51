/** Contents that calls have read, kept in memory within a limit: for the rest of a call, and for the next one. */
import { FileSystemError } from './file-system.js';

export class FileContents {
  #maxBytes;
  #bytes = 0;
  /** By path, those that were used last behind the others: `{ version, data }`. */
  #kept = new Map();
  /** What was read for the call that runs, and what of it the call has asked for. */
  #ofCall = new Set();
  #asked = new Set();

  constructor(maxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** A call begins, which has asked for nothing. */
  begin() {
    this.#ofCall.clear();
    this.#asked.clear();
  }

  /** The content of a version, if it is here. The call keeps it. */
  ask(path, version) {
    this.#asked.add(path);
    this.#ofCall.add(path);
    if (!this.has(path, version)) return undefined;
    const kept = this.#kept.get(path);
    this.#kept.delete(path);
    this.#kept.set(path, kept);
    return kept.data;
  }

  has(path, version) {
    return this.#kept.get(path)?.version === version;
  }

  /** How many bytes can be read ahead for the call that runs. */
  get room() {
    return this.#maxBytes - this.#size(this.#ofCall);
  }

  /** Keeps a content for the call that runs. What was read for others makes room, then what was read ahead. */
  keep(path, version, data) {
    this.#drop(path);
    this.#makeRoom(data.length);
    this.checkRoom(path, data.length);
    this.#kept.set(path, { version, data });
    this.#ofCall.add(path);
    this.#bytes += data.length;
  }

  /** Refuses what a call asks for, or writes, where it cannot be in memory together with what the call asked for before. */
  checkRoom(path, bytes) {
    const others = [...this.#asked].filter((asked) => asked !== path);
    if (this.#size(others) + bytes <= this.#maxBytes) return;
    throw new FileSystemError(
      'limit',
      `the files of this call have more than ${this.#maxBytes} bytes together (at ${path}): take fewer or smaller ones, or raise ` +
        'the limit `maxBytes` of the file system',
    );
  }

  #makeRoom(bytes) {
    const rest = [...this.#kept.keys()].filter((path) => !this.#asked.has(path));
    const ofOthers = rest.filter((path) => !this.#ofCall.has(path));
    const ahead = rest.filter((path) => this.#ofCall.has(path));
    for (const path of [...ofOthers, ...ahead]) {
      if (this.#bytes + bytes <= this.#maxBytes) return;
      this.#drop(path);
    }
  }

  #drop(path) {
    this.#bytes -= this.#size([path]);
    this.#kept.delete(path);
  }

  #size(paths) {
    let bytes = 0;
    for (const path of paths) bytes += this.#kept.get(path)?.data.length ?? 0;
    return bytes;
  }
}
