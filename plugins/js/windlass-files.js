// The files that a call was granted, by the paths that people and the model know them by.

import { roots, workingDirectory } from "windlass:host/filesystem@0.1.0";

import { decode, encode } from "./windlass-text.js";

/** How much is asked of the host at once, in bytes. */
const PIECE = 4 << 20;

/** What a failed operation of the host means for somebody who gave a path. */
const EXPLANATIONS = {
  "not-found": "does not exist.",
  exists: "exists already.",
  "not-directory": "cannot be reached: a part of the path is a file, not a directory.",
  "is-directory": "is a directory, not a file.",
  "read-only": "may only be read: writing there is not granted.",
  invalid: "is not a regular file or directory, or the host does not accept the path.",
  "too-large": "is too large to be handled in one piece.",
  changed: "was changed by something else in the meantime. Read it again.",
  cancelled: "was not done with when the call was stopped.",
  io: "could not be used: the disk reported a fault.",
};

/** A failed file operation: `code` is that of the host, the message is for the model. */
export class FileError extends Error {
  constructor(path, code) {
    super(`${path} ${EXPLANATIONS[code] ?? `could not be used (${code}).`}`);
    this.name = "FileError";
    this.code = code;
    this.path = path;
  }
}

/**
 * The granted directories. Paths are absolute, or relative to the working directory; what was not granted looks as if
 * it did not exist.
 */
export class Files {
  #roots;

  constructor() {
    this.#roots = roots().map((root) => ({ ...root, path: normalised(root.path) }));
    /** What relative paths start from: absolute. */
    this.workingDirectory = normalised(workingDirectory());
  }

  /** The granted directories: `path`, and `access` (`"read"` or `"write"`). */
  get roots() {
    return this.#roots.map(({ path, access }) => ({ path, access }));
  }

  /** The absolute form of a path, with `.` and `..` worked out by name. */
  absolute(path) {
    if (typeof path !== "string" || path === "") throw new Error("The path is empty. Give an absolute path.");
    return normalised(path.startsWith("/") ? path : `${this.workingDirectory}/${path}`);
  }

  /** The content of a file as text. */
  readText(path) {
    return decode(this.readBytes(path));
  }

  /** The content of a file. */
  readBytes(path) {
    return this.#at(path, (directory, relative) => {
      const pieces = [];
      let size = 0;
      for (;;) {
        const piece = new Uint8Array(directory.read(relative, size, PIECE));
        pieces.push(piece);
        size += piece.length;
        if (piece.length < PIECE) break;
      }
      if (pieces.length === 1) return pieces[0];
      const whole = new Uint8Array(size);
      let at = 0;
      for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
      return whole;
    });
  }

  /** Replaces a file in one step. */
  writeText(path, text, options) {
    this.writeBytes(path, encode(text), options);
  }

  /** The same for bytes. */
  writeBytes(path, bytes, { createNew = false, createParents = false, expectedDigest = null } = {}) {
    this.#at(path, (directory, relative) => directory.write(relative, bytes, { createNew, createParents, expectedDigest }));
  }

  /** The entries of a directory, sorted by name; with `details`, their sizes and times too. */
  list(path = ".", { details = false } = {}) {
    return this.#at(path, (directory, relative) => {
      const entries = [];
      let cursor = null;
      do {
        const page = directory.list(relative, cursor, details);
        entries.push(...page.entries);
        cursor = page.next ?? null;
      } while (cursor !== null);
      return entries;
    });
  }

  /** Kind, size in bytes and time of change of a file or directory. */
  stat(path) {
    return this.#at(path, (directory, relative) => directory.stat(relative));
  }

  /** Whether there is something at a path. */
  exists(path) {
    try {
      this.stat(path);
      return true;
    } catch (error) {
      if (error instanceof FileError) return false;
      throw error;
    }
  }

  /** Makes a directory; the one that it lies in must be there. */
  createDirectory(path) {
    this.#at(path, (directory, relative) => directory.createDirectory(relative));
  }

  /** Removes a file or an empty directory. */
  remove(path) {
    this.#at(path, (directory, relative) => directory.remove(relative));
  }

  /** Does something in the innermost granted directory that a path lies in. */
  #at(path, act) {
    const absolute = this.absolute(path);
    let innermost = null;
    for (const root of this.#roots) {
      const within = absolute === root.path || root.path === "/" || absolute.startsWith(`${root.path}/`);
      if (within && (innermost === null || root.path.length > innermost.path.length)) innermost = root;
    }
    if (innermost === null) throw new FileError(absolute, "not-found");
    const relative = absolute.slice(innermost.path.length).replace(/^\//, "");
    try {
      return act(innermost.directory, relative);
    } catch (error) {
      const code = codeOf(error);
      throw code === null ? error : new FileError(absolute, code);
    }
  }
}

/** The error code of the host in what a function of it threw, which depends on the toolchain. */
function codeOf(error) {
  const code = typeof error === "string" ? error : (error?.payload ?? error?.message);
  return typeof code === "string" && code in EXPLANATIONS ? code : null;
}

/** An absolute path without `.`, `..` and needless slashes. */
function normalised(path) {
  const names = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}
