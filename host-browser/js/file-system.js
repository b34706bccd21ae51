/** What file systems have in common: their errors, and what the view of a call asks them for. */

/** A file that cannot be read or changed; `kind` says why, as `FileSystemError` in `file-system.d.ts` lists it. */
export class FileSystemError extends Error {
  constructor(kind, message, options) {
    super(message, options);
    this.name = 'FileSystemError';
    this.kind = kind;
  }
}

/** How much of a file system a call sees at once, where nothing else is said. */
const LIMITS = { maxBytes: 64 << 20, maxEntries: 50_000, exclude: ['.git', 'node_modules'] };

/** The limits of a file system, with what it leaves out. */
export function limitsOf({ limits = {} }) {
  for (const key of Object.keys(limits)) {
    if (!Object.hasOwn(LIMITS, key)) throw new Error(`a file system has no limit \`${key}\`, only ${Object.keys(LIMITS).join(', ')}`);
  }
  const { maxBytes = LIMITS.maxBytes, maxEntries = LIMITS.maxEntries, exclude = LIMITS.exclude } = limits;
  return { maxBytes, maxEntries, exclude };
}
