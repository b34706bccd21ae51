/**
 * The files that a component has open by WASI. What is written stays in memory until the file is synced, closed or looked at by its
 * path, and at the latest until the call ends: then the whole file is replaced in one step.
 */

/** Bytes of all files together that are written, and of one read; as natively. */
const MAX_HELD = 64 << 20;
export const PIECE = 1 << 20;

/** Bytes that `windlass:host/filesystem` gives at once. */
const MAX_READ = 16 << 20;

const WRITE = { expectedDigest: undefined, createNew: false, createParents: false };

export class OpenFiles {
  #files = new Set();

  /** The open file at a place, where a file is; each handle is closed once. */
  open(place) {
    const known = [...this.#files].find((file) => !file.isRemoved && isSame(file.place, place));
    const file = known ?? new OpenFile(place, this);
    this.#files.add(file);
    file.handles += 1;
    return file;
  }

  /** A handle was dropped; with the last one, what was written is kept. */
  close(file) {
    file.handles -= 1;
    if (file.handles > 0) return;
    this.#files.delete(file);
    file.keep();
  }

  /** Keeps what was written so far. */
  keepAll() {
    for (const file of this.#files) file.keep();
  }

  /** A file was removed: handles of it lead nowhere. */
  removed(place) {
    for (const file of this.#files) if (isSame(file.place, place)) file.isRemoved = true;
  }

  /** A file was moved: handles of it follow. */
  moved(from, to) {
    for (const file of this.#files) if (!file.isRemoved && isSame(file.place, from)) file.place = to;
  }

  /** Refuses a file that is so large where the others that are written leave no room for it. */
  checkRoom(file, size) {
    let held = size;
    for (const other of this.#files) if (other !== file) held += other.held ?? 0;
    if (held > MAX_HELD) throw 'too-large';
  }
}

class OpenFile {
  handles = 0;
  isRemoved = false;
  place;
  #all;
  /** The content, from the first change on: the first bytes of an array that may be longer. */
  #content;
  #size = 0;
  #isChanged = false;

  constructor(place, all) {
    this.place = place;
    this.#all = all;
  }

  /** How many bytes it has that are not kept yet, if it was written. */
  get held() {
    return this.#content && this.#size;
  }

  /** Bytes from a position; none at the end. */
  read(at, most) {
    const length = Math.min(most, PIECE);
    if (!this.#content) return this.place.directory.read(this.place.path, at, length);
    return this.#content.slice(Math.min(at, this.#size), Math.min(at + length, this.#size));
  }

  /** Puts bytes at a position, or at the end without one; gives the position behind them. */
  write(at, bytes) {
    this.#load();
    const from = at ?? this.#size;
    const end = from + bytes.length;
    this.#resize(Math.max(end, this.#size));
    this.#content.set(bytes, from);
    return end;
  }

  setSize(size) {
    this.#all.checkRoom(this, size);
    // What is thrown away need not be read first.
    if (size === 0) this.#content = new Uint8Array();
    else this.#load();
    this.#isChanged = true;
    this.#resize(size);
  }

  keep() {
    if (!this.#isChanged || this.isRemoved) return;
    const { directory, path } = this.place;
    try {
      directory.write(path, this.#content.subarray(0, this.#size), WRITE);
    } catch (code) {
      // Closing a file has no answer.
      if (typeof code === 'string') throw new Error(`the file \`${path}\`, which it wrote, could not be kept: ${code}`);
      throw code;
    }
    this.#isChanged = false;
  }

  #load() {
    if (!this.#content) {
      this.#content = readWhole(this.place, (size) => this.#all.checkRoom(this, size));
      this.#size = this.#content.length;
    }
    this.#isChanged = true;
  }

  #resize(size) {
    // A position far beyond the end would make a file as large as the component likes.
    this.#all.checkRoom(this, size);
    if (size > this.#content.length) {
      const larger = new Uint8Array(Math.min(Math.max(size, 2 * this.#content.length), MAX_HELD));
      larger.set(this.#content.subarray(0, this.#size));
      this.#content = larger;
    }
    if (size < this.#size) this.#content.fill(0, size, this.#size);
    this.#size = size;
  }
}

/** The content of a file, once `check` has let its size pass. */
export function readWhole({ directory, path }, check = checkSize) {
  const { size } = directory.stat(path);
  check(size);
  const whole = new Uint8Array(size);
  for (let at = 0; at < size; ) {
    const piece = directory.read(path, at, MAX_READ);
    if (piece.length === 0) throw 'io';
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

export function isSame(one, other) {
  return one.root === other.root && one.path === other.path;
}

/** Refuses a file that is too large to be in memory. */
export function checkSize(size) {
  if (size > MAX_HELD) throw 'too-large';
}
