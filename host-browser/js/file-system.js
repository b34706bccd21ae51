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
  for (const [key, value] of Object.entries({ maxBytes, maxEntries })) {
    if (!(typeof value === 'number' && value >= 0)) throw new Error(`the limit \`${key}\` of a file system is ${value}, and has to be a number of at least 0`);
  }
  if (!Array.isArray(exclude) || !exclude.every(isName)) {
    throw new Error('`exclude` of a file system is a list of names, each without a slash');
  }
  return { maxBytes, maxEntries, exclude };
}

function isName(name) {
  return typeof name === 'string' && name !== '' && !name.includes('/');
}
