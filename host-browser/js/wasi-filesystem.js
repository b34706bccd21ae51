/** `wasi:filesystem`: the directories that a call was granted, by the same view as `windlass:host/filesystem`. */
import { isSame, readWhole } from './wasi-open-files.js';
import { InputStream, OutputStream } from './wasi-streams.js';
import { digest } from './wasm.js';

/** Bytes of the longest path; as natively. */
const LONGEST_PATH = 4096;

/** How many handles a listing counts as: it holds the names of all entries. */
const LISTING = 64;

/** The codes of `windlass:host/types` in WASI. */
const CODES = {
  'not-found': 'no-entry',
  exists: 'exist',
  'not-directory': 'not-directory',
  'is-directory': 'is-directory',
  'read-only': 'read-only',
  invalid: 'invalid',
  'too-large': 'file-too-large',
  changed: 'busy',
  cancelled: 'interrupted',
  io: 'io',
};

const KINDS = { file: 'regular-file', directory: 'directory' };

/** The granted directories, each under its absolute path. */
export function preopens(call) {
  return () => {
    call.count();
    return call.roots().map(({ path, directory }) => [new Descriptor(call, { root: path, directory, path: '' }), path]);
  };
}

/** What a failed operation on a file was. */
export function errorCode(error) {
  return CODES[error.code];
}

/** An open file, or a directory. */
export class Descriptor {
  #call;
  /** Of a directory: `{ root, directory, path }`, the path relative to what was granted. */
  #place;
  #file;
  #writes;

  constructor(call, place, file, writes = false) {
    this.#call = call;
    this.#place = place;
    this.#file = file;
    this.#writes = writes;
    call.hold(this, () => file && call.openFiles.close(file));
  }

  readViaStream(at) {
    const file = this.#opened(false);
    const stream = new InputStream(this.#call, file, Number(at));
    file.handles += 1;
    return stream;
  }

  writeViaStream(at) {
    return this.#output(Number(at));
  }

  appendViaStream() {
    return this.#output(undefined);
  }

  advise() {
    this.#opened(false);
  }

  sync() {
    this.#call.count();
    this.#call.openFiles.keepAll();
  }

  syncData() {
    this.sync();
  }

  getFlags() {
    this.#call.count();
    return this.#file ? { read: true, write: this.#writes } : { read: true, mutateDirectory: true };
  }

  getType() {
    this.#call.count();
    return this.#file ? KINDS.file : KINDS.directory;
  }

  setSize(size) {
    const file = this.#opened(true);
    coded(() => file.setSize(Number(size)));
  }

  read(length, at) {
    const file = this.#opened(false);
    const bytes = coded(() => file.read(Number(at), Number(length)));
    return [bytes, bytes.length === 0 && length > 0n];
  }

  write(bytes, at) {
    const file = this.#opened(true);
    return BigInt(coded(() => file.write(Number(at), bytes)) - Number(at));
  }

  readDirectory() {
    this.#call.count();
    this.#call.openFiles.keepAll();
    const { directory, path } = this.#directory();
    const names = [];
    let next;
    coded(() => {
      do {
        const page = directory.list(path, next, false);
        names.push(...page.entries);
        ({ next } = page);
      } while (next !== undefined);
    });
    return new DirectoryEntryStream(this.#call, names);
  }

  createDirectoryAt(path) {
    this.#at(path, ({ directory, path }) => directory.createDirectory(path));
  }

  stat() {
    this.#call.count();
    const { directory, path } = this.#anyPlace();
    return coded(() => told(directory.stat(path), this.#file?.held));
  }

  statAt(how, path) {
    return this.#at(path, ({ directory, path }) => told(directory.stat(path)));
  }

  openAt(how, path, { create, directory: mustBeDirectory, exclusive, truncate }, { write }) {
    const opened = this.#at(path, (place) => {
      const { directory, path } = place;
      const stat = found(place);
      if (stat && create && exclusive) throw 'exists';
      if (stat?.kind === 'directory') {
        if (write || truncate) throw 'is-directory';
        return { place: { ...place, path: path.replace(/\/$/, '') } };
      }
      if (stat && mustBeDirectory) throw 'not-directory';
      if (!stat && (!create || mustBeDirectory)) throw 'not-found';
      if (!stat) directory.write(path, new Uint8Array(), { expectedDigest: undefined, createNew: Boolean(exclusive), createParents: false });
      // Before anything is cut off.
      else if (write || truncate) directory.mayWrite(path);
      const file = this.#call.openFiles.open(place);
      if (truncate) file.setSize(0);
      return { place, file };
    });
    return new Descriptor(this.#call, opened.place, opened.file, Boolean(write));
  }

  unlinkFileAt(path) {
    this.#at(path, (place) => {
      if (place.directory.stat(place.path).kind === 'directory') throw 'is-directory';
      place.directory.remove(place.path);
      this.#call.openFiles.removed(place);
    });
  }

  removeDirectoryAt(path) {
    this.#at(path, ({ directory, path }) => {
      if (directory.stat(path).kind !== 'directory') throw 'not-directory';
      try {
        directory.remove(path);
      } catch (code) {
        throw code === 'exists' ? 'not-empty' : code;
      }
    });
  }

  /** A file is written at its new place and removed at the old one; a directory is told to be on another device, as between disks. */
  renameAt(path, to, newPath) {
    const target = to.#below(newPath);
    this.#at(path, (from) => {
      const { directory } = from;
      if (directory.stat(from.path).kind !== 'file') throw 'cross-device';
      // Before anything is written: what may not be removed is not moved.
      directory.mayWrite(from.path);
      if (isSame(from, target) || absolutePath(from) === absolutePath(target)) return;
      target.directory.write(target.path, readWhole(from), { expectedDigest: undefined, createNew: false, createParents: false });
      this.#call.openFiles.removed(target);
      directory.remove(from.path);
      this.#call.openFiles.moved(from, target);
    });
  }

  setTimes() {
    throw 'unsupported';
  }

  setTimesAt() {
    throw 'unsupported';
  }

  linkAt() {
    throw 'not-permitted';
  }

  symlinkAt() {
    throw 'not-permitted';
  }

  readlinkAt() {
    throw 'not-permitted';
  }

  isSameObject(other) {
    this.#call.count();
    return isSame(this.#anyPlace(), other.#anyPlace());
  }

  metadataHash() {
    this.#call.count();
    return coded(() => hashOf(this.#anyPlace()));
  }

  metadataHashAt(how, path) {
    return this.#at(path, hashOf);
  }

  #anyPlace() {
    return this.#file?.place ?? this.#place;
  }

  #directory() {
    if (this.#file) throw 'not-directory';
    return this.#place;
  }

  /** The open file; without `writes` it is not changed. */
  #opened(toWrite) {
    this.#call.count();
    if (!this.#file) throw 'is-directory';
    if (toWrite && !this.#writes) throw 'bad-descriptor';
    return this.#file;
  }

  #output(at) {
    const file = this.#opened(true);
    const stream = OutputStream.into(this.#call, file, at);
    file.handles += 1;
    return stream;
  }

  /** Does something at a path below this directory, with everything kept that was written. */
  #at(path, act) {
    this.#call.count();
    this.#call.openFiles.keepAll();
    const place = this.#below(path);
    return coded(() => act(place));
  }

  /** `..` is worked out by name and does not lead out of the granted directory. */
  #below(path) {
    const place = this.#directory();
    if (path.length > LONGEST_PATH) throw 'name-too-long';
    if (path === '' || path.startsWith('/')) throw 'no-entry';
    const names = place.path.split('/').filter(Boolean);
    const given = path.split('/');
    for (const name of given) {
      if (name === '..' && names.pop() === undefined) throw 'no-entry';
      if (!['', '.', '..'].includes(name)) names.push(name);
    }
    // Only a directory matches then.
    const wantsDirectory = ['', '.', '..'].includes(given.at(-1)) && names.length > 0;
    return { ...place, path: names.join('/') + (wantsDirectory ? '/' : '') };
  }
}

/** The entries of a directory that were not told yet. */
export class DirectoryEntryStream {
  #call;
  #entries;

  constructor(call, entries) {
    this.#call = call;
    this.#entries = entries[Symbol.iterator]();
    call.hold(this, undefined, LISTING);
  }

  readDirectoryEntry() {
    this.#call.count();
    const { done, value } = this.#entries.next();
    return done ? undefined : { type: KINDS[value.kind] ?? 'unknown', name: value.name };
  }
}

/** What stands at a place; nothing where there is nothing. */
function found({ directory, path }) {
  try {
    return directory.stat(path);
  } catch (code) {
    if (code === 'not-found') return undefined;
    throw code;
  }
}

function told({ kind, size, modified }, held) {
  const at = modified > 0 ? { seconds: BigInt(Math.floor(modified / 1000)), nanoseconds: Math.floor((modified % 1000) * 1e6) } : undefined;
  return {
    type: KINDS[kind] ?? 'unknown',
    linkCount: 1n,
    size: BigInt(held ?? size),
    dataAccessTimestamp: at,
    dataModificationTimestamp: at,
    statusChangeTimestamp: at,
  };
}

/** Tells one file from another by where it is. */
function hashOf(place) {
  place.directory.stat(place.path);
  const hex = digest(new TextEncoder().encode(absolutePath(place))).slice('sha256:'.length);
  return { lower: BigInt(`0x${hex.slice(0, 16)}`), upper: BigInt(`0x${hex.slice(16, 32)}`) };
}

function absolutePath({ root, path }) {
  return `${root}/${path.replace(/\/$/, '')}`;
}

/** What the view refuses, as WASI says it. */
function coded(run) {
  try {
    return run();
  } catch (code) {
    throw CODES[code] ?? code;
  }
}
