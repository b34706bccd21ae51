/** Errors of files in the words of Node, which the commands of the shell read. */

const WORDS = {
  EACCES: 'permission denied',
  EBUSY: 'resource busy or locked',
  EEXIST: 'file already exists',
  EFBIG: 'file too large',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
};

/** What the kinds of a `FileSystemError` are called here. */
const CODES = {
  changed: 'EBUSY',
  exists: 'EEXIST',
  missing: 'ENOENT',
  'not-empty': 'ENOTEMPTY',
  full: 'ENOSPC',
  locked: 'EBUSY',
  'not-allowed': 'EACCES',
  refused: 'EINVAL',
  limit: 'EFBIG',
  failed: 'EIO',
};

export function fault(code, operation, path) {
  return Object.assign(new Error(`${code}: ${WORDS[code]}, ${operation} '${path}'`), { code });
}

/** The error of a file system, in these words; any other error is handed on. */
export function faultOf(error, operation, path) {
  const code = error?.name === 'FileSystemError' ? (CODES[error.kind] ?? 'EIO') : undefined;
  return code ? Object.assign(fault(code, operation, path), { cause: error }) : error;
}
