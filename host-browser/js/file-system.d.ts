/** Files that tools work on: in memory, in the browser's storage, in a directory that a person picked, or wherever the embedder has them. */

import type { Clock } from './index.js';

/**
 * A tree of files. {@link MemoryFileSystem}, {@link OpfsFileSystem} and {@link PickedDirectoryFileSystem} are file systems; for one of
 * your own, such as files behind a server, `checkFileSystem` of `windlass/testkit` shows whether it keeps this contract:
 *
 * - Paths are absolute, with `/` between their names. Whoever asks for `.`, `..`, doubled slashes or a slash at the end gets what the
 *   path means without them; `..` does not lead above `/`, which is a directory that is always there.
 * - A name is that of a listing, byte for byte. Where the platform takes another spelling for the same file (upper and lower case),
 *   that spelling is nothing that can be read, and a change there is refused. Links are not followed.
 * - What is not there gives `undefined`; what cannot be read rejects.
 * - A file is replaced as a whole: who reads meanwhile sees the old content or the new one.
 *
 * It knows nothing of permissions: what a call may reach is decided before it is asked. A component does not wait for answers, so a
 * call sees what is there when it begins: the agent lists what the call was granted, reads contents when they are asked for, and
 * makes the changes of the call before its result is given. A file that somebody else changed meanwhile is not overwritten: the
 * call fails, and says so.
 */
export interface FileSystem {
  /** What may be done at all; default `write`. */
  readonly access?: 'read' | 'write';
  /** How much a call sees at once. */
  readonly limits?: FileLimits;
  stat(path: string): Promise<FileStat | undefined>;
  /** The entries of a directory, in any order; `undefined` if there is no directory. */
  list(path: string): Promise<FileEntry[] | undefined>;
  /** The content of a file; `undefined` if there is no file. */
  read(path: string): Promise<FileContent | undefined>;
  /**
   * Makes changes, as if one after another. First everything that is to be replaced is looked at: if anything is not as `replaces`
   * says, it rejects with a {@link FileSystemError} of the kind `changed`, and changes nothing. If a change fails then, it rejects
   * and names what was changed all the same; a file system that can takes that back.
   */
  change(changes: FileChange[]): Promise<void>;
}

export interface FileStat {
  kind: 'file' | 'directory';
  /** Bytes; 0 for directories. */
  size: number;
  /** Milliseconds since 1970; 0 where it is not known. */
  modified: number;
  /** A text that is another one whenever the content is; empty for directories. */
  version: string;
}

export interface FileEntry extends FileStat {
  name: string;
}

export interface FileContent extends FileStat {
  content: Uint8Array;
}

/** A change. The directory that it happens in must be there by then. */
export type FileChange =
  | {
      /** Replaces a file or makes a new one. */
      type: 'write';
      path: string;
      content: Uint8Array;
      /** The version that stands there before all of these changes, or `null` for nothing; left out, it replaces what is there. */
      replaces?: string | null;
    }
  /** One that is there already stays as it is. */
  | { type: 'createDirectory'; path: string }
  /** Removes a file or an empty directory. */
  | { type: 'remove'; path: string; replaces?: string };

/** Limits of what one call of a tool sees. What is beyond them fails the call, which names the limit. */
export interface FileLimits {
  /** Bytes of the files that a call reads and writes, all together, which are in memory at the same time; default 64 MiB. */
  maxBytes?: number;
  /** Files and directories that are looked through for a call; default 50,000. */
  maxEntries?: number;
  /**
   * Names of files and directories that are not there for a call, wherever they are, unless it is about a path in one of them;
   * default `.git` and `node_modules`.
   */
  exclude?: string[];
}

/** Files that cannot be read or changed. */
export class FileSystemError extends Error {
  constructor(kind: FileSystemErrorKind, message: string, options?: ErrorOptions);
  readonly kind: FileSystemErrorKind;
}

/**
 * - `changed`: a file is not what it was when it was read
 * - `exists`: something else has this path
 * - `missing`: the directory, or what is to be removed, is not there
 * - `not-empty`: a directory that is to be removed has entries
 * - `full`: the storage has no room
 * - `locked`: somebody else is writing the file
 * - `not-allowed`: the browser, or the person, does not let the page
 * - `refused`: the platform does not have such a name
 * - `limit`: more than one of {@link FileLimits} allows
 * - `failed`: anything else
 */
export type FileSystemErrorKind =
  | 'changed'
  | 'exists'
  | 'missing'
  | 'not-empty'
  | 'full'
  | 'locked'
  | 'not-allowed'
  | 'refused'
  | 'limit'
  | 'failed';

/** Files in memory, as long as the page or process lives. */
export class MemoryFileSystem implements FileSystem {
  constructor(options?: { files?: Record<string, string | Uint8Array>; clock?: Pick<Clock, 'wall'> });
  /** Puts a file in place, with the directories it needs. */
  writeFile(path: string, content: string | Uint8Array, options?: { modified?: number }): void;
  readFile(path: string): Uint8Array | undefined;
  readText(path: string): string | undefined;
  /** The absolute paths of all files, sorted. */
  paths(): string[];
  stat(path: string): Promise<FileStat | undefined>;
  list(path: string): Promise<FileEntry[] | undefined>;
  read(path: string): Promise<FileContent | undefined>;
  /** All or none. */
  change(changes: FileChange[]): Promise<void>;
}

/**
 * Keeps files in the browser, beyond the page, in the storage of the origin (OPFS), which no other program sees. The page has to come
 * from `https:` or from this machine. Tabs that change the same files take turns (Web Locks).
 */
export class OpfsFileSystem implements FileSystem {
  private constructor();
  /** Opens the files under a name, which other pages of the same origin can open as well; default `windlass`. */
  static open(name?: string, options?: { limits?: FileLimits }): Promise<OpfsFileSystem>;
  readonly access: 'write';
  readonly limits: FileLimits;
  stat(path: string): Promise<FileStat | undefined>;
  list(path: string): Promise<FileEntry[] | undefined>;
  read(path: string): Promise<FileContent | undefined>;
  change(changes: FileChange[]): Promise<void>;
}

/**
 * Works on a directory that a person picked (File System Access): `await showDirectoryPicker({ mode: 'readwrite' })`. The handle can be
 * kept in IndexedDB; a page that is opened again gives it to `open`, which asks the person where the browser wants that.
 *
 * The browser shows no links and no modes of files in it, and keeps some names and places of the system from pages.
 */
export class PickedDirectoryFileSystem implements FileSystem {
  private constructor();
  /**
   * Opens a directory. Call it in the handler of a click, or the browser cannot ask; where the person says no, it rejects with a
   * {@link FileSystemError} of the kind `not-allowed`.
   *
   * @param options `access`: default `write`
   */
  static open(
    directory: FileSystemDirectoryHandle,
    options?: { access?: 'read' | 'write'; limits?: FileLimits },
  ): Promise<PickedDirectoryFileSystem>;
  readonly access: 'read' | 'write';
  readonly limits: FileLimits;
  stat(path: string): Promise<FileStat | undefined>;
  list(path: string): Promise<FileEntry[] | undefined>;
  read(path: string): Promise<FileContent | undefined>;
  change(changes: FileChange[]): Promise<void>;
}
