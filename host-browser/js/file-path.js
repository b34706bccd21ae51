/** Paths of files: the rules for those that a model names, and for those that a component uses. The native host has the same. */

/** The most bytes of a path and of a name in it, and the most names. */
const MAX_PATH = 4096;
const MAX_NAME = 255;
const MAX_DEPTH = 256;

/** The most characters of a path in a message. */
const SHOWN = 200;

/**
 * A path as rules judge it: absolute, without `.` and `..`. There are no links here, so that is the real one.
 * @param {string} cwd absolute
 * @param {string} path
 */
export function absolute(cwd, path) {
  const fault = faultOf(path);
  if (fault) throw new Error(`the path ${JSON.stringify(path.slice(0, SHOWN))} cannot be resolved: ${fault}`);
  const names = [];
  for (const name of (path.startsWith('/') ? path : `${cwd}/${path}`).split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}

function faultOf(path) {
  if (path === '') return 'it is empty';
  if (path.includes('\0')) return 'it contains a NUL character';
  if (isLonger(path, MAX_PATH)) return `it is longer than ${MAX_PATH} bytes`;
  const names = namesOf(path);
  if (names.some((name) => isLonger(name, MAX_NAME))) return `a name in it is longer than ${MAX_NAME} bytes`;
  if (names.length > MAX_DEPTH) return `it has more than ${MAX_DEPTH} names`;
  return undefined;
}

/**
 * A path from a component, relative to a directory that it must not leave: its names, and whether only a directory matches
 * because it ends in `/` or `/.`. What is no such path throws the case of `error-code`.
 */
export function guestPath(text) {
  if (isLonger(text, MAX_PATH) || text.includes('\0')) throw 'invalid';
  if (text.startsWith('/')) throw 'not-found';
  const steps = text.split('/');
  const names = [];
  for (const step of steps) {
    if (step === '..') throw 'not-found';
    if (isLonger(step, MAX_NAME)) throw 'invalid';
    if (step !== '' && step !== '.') names.push(step);
  }
  if (names.length > MAX_DEPTH) throw 'invalid';
  return { names, wantsDirectory: ['', '.'].includes(steps.at(-1)) };
}

export function namesOf(path) {
  return path.split('/').filter((name) => name !== '');
}

export function parentOf(path) {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function childOf(directory, name) {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** Whether a path is a directory or lies in it. */
export function isIn(path, directory) {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}

/** By code points, which is the order of the UTF-8 bytes; JavaScript itself compares UTF-16. */
export function byName(a, b) {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < left.length && i < right.length; i += 1) {
    const difference = left[i].codePointAt(0) - right[i].codePointAt(0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Whether a text has more bytes than this; a very long one is not encoded to find that out. */
function isLonger(text, bytes) {
  return text.length > bytes || (text.length > bytes / 3 && new TextEncoder().encode(text).length > bytes);
}
