/** What a component answers a call with, checked and as the core reads it. The native host has the same limits and words. */
import { least } from './component-imports.js';

/** Bytes of text, images and observations in a result, and of its structured output. */
const CONTENT = 16 << 20;
const STRUCTURED = 32 << 20;

/** Blocks of a result, as an empty one takes memory, too; and observations. */
const MOST_BLOCKS = 10_000;
const MOST_OBSERVATIONS = 10_000;

/** Levels of a structured output. Readers take 127, and the message around it has some. */
const MAX_DEPTH = 100;

/** Formats of images that the Messages API takes. */
const IMAGES = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': [0x47, 0x49, 0x46, 0x38],
  'image/webp': [0x52, 0x49, 0x46, 0x46],
};

/** The largest image in bytes: the Messages API takes 5 MB of base64. A larger one would be refused with each further request. */
const LARGEST_IMAGE = 3_750_000;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** How many characters of a wrong word of a component are shown. */
const SHOWN = 100;

/**
 * What counts of a result.
 *
 * @param {{ content: object[], isError: boolean, structured?: string, observed: object[] }} result as `windlass:plugin/types` has it
 * @param {object} limits as declared
 * @param {{ has: (path: string) => boolean }} handled the files that this very call has read or written
 * @param {(text: string) => void} note tells the log what the component is not told
 * @returns {object} the result, with its own observations alone
 * @throws where it is too large, or holds what the core does not take
 */
export function checkedResult({ content, isError, structured, observed }, limits, handled, note) {
  const own = ownObservations(observed, handled, note);
  within('result', contentSize(content, own), 'bytes', least(limits.output_bytes, CONTENT));
  within('result', content.length, 'blocks', MOST_BLOCKS);
  within('structured output', sizeOf(structured ?? ''), 'bytes', STRUCTURED);
  within('result', own.length, 'observations', MOST_OBSERVATIONS);
  checkStructured(structured);
  content.forEach(checkBlock);
  own.forEach(checkObservation);
  return { content, isError, structured, observed: own };
}

/** A checked result as JSON. */
export function encodedResult({ content, isError, structured, observed }) {
  const json = JSON.stringify({
    content: content.map(block),
    is_error: isError,
    observed: observed.map((seen) => ({ path: seen.path, digest: seen.digest, whole: seen.whole })),
  });
  // It was checked to be one JSON value, so that nothing of it can become a field beside it. Writing it anew would respell its numbers.
  return `${json.slice(0, -1)},"structured":${structured ?? 'null'}}`;
}

/**
 * Leaves of what a component says that it has seen what was handed to it or written for it: the session lets a file be changed because
 * of it. More than is allowed are left to be refused.
 */
function ownObservations(observed, handled, note) {
  if (observed.length > MOST_OBSERVATIONS) return observed;
  return observed.filter(({ path }) => {
    const isOwn = handled.has(path);
    if (!isOwn) note(`it says that it has seen ${shown(path)}, which it has neither read nor written`);
    return isOwn;
  });
}

function contentSize(content, observed) {
  const ofBlocks = content.reduce((sum, { tag, val }) => sum + (tag === 'text' ? sizeOf(val) : val.data.length), 0);
  return observed.reduce((sum, { path, digest }) => sum + sizeOf(path) + sizeOf(digest), ofBlocks);
}

/** The bytes of a text, as the core has it: in UTF-8. */
function sizeOf(text) {
  return new TextEncoder().encode(text).length;
}

function within(what, size, unit, limit) {
  if (size > limit) throw new Error(`The tool failed: its ${what} has ${size} ${unit}, the limit is ${limit}.`);
}

function checkStructured(structured) {
  if (structured === undefined || structured === null) return;
  const fault = (what) => malformed('structured output', what);
  try {
    JSON.parse(structured);
  } catch (error) {
    throw fault(`no JSON: ${shown(error.message)}`);
  }
  if (depthOf(structured) > MAX_DEPTH) throw fault(`nested in more than ${MAX_DEPTH} levels`);
}

/** The depth of objects and arrays in JSON. */
function depthOf(json) {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json[at];
    if (char === '"') inString = !inString;
    else if (inString) at += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

function checkBlock({ tag, val }) {
  if (tag === 'text') return;
  const { mediaType, data } = val;
  if (!Object.hasOwn(IMAGES, mediaType)) throw malformed('image', `of the unknown type ${JSON.stringify(shown(mediaType))}`);
  if (!IMAGES[mediaType].every((byte, at) => data[at] === byte)) throw malformed('image', `not of the type ${mediaType}, as it says`);
  within('image', data.length, 'bytes', LARGEST_IMAGE);
}

function checkObservation({ digest }) {
  if (DIGEST.test(digest)) return;
  const form = '`sha256:` and 64 hexadecimal digits in small letters';
  throw malformed('observation', `with a digest ${JSON.stringify(shown(digest))}, which is not ${form}`);
}

function malformed(what, fault) {
  return new Error(`The tool failed: its ${what} is ${fault}.`);
}

/** The beginning of a text of a component. */
function shown(text) {
  return [...text.slice(0, 2 * SHOWN)].slice(0, SHOWN).join('');
}

function block({ tag, val }) {
  if (tag === 'text') return { type: 'text', text: val };
  return { type: 'image', source: { type: 'base64', media_type: val.mediaType, data: base64(val.data) } };
}

function base64(bytes) {
  // In pieces: a call takes only so many arguments.
  const PIECE = 0x8000;
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE) {
    text += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  }
  return btoa(text);
}
