/** Fields of objects that people write: one that does nothing could be a limit or a condition that nobody keeps. */
import { meant } from './near-name.js';

/**
 * What is said about the fields that do nothing, a sentence each.
 *
 * @param {string} whose
 * @param {any} value what is no object is passed over, and so are fields that are `undefined`
 * @param {string[]} known
 */
export function unknownFields(whose, value, known) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const unknown = Object.entries(value).filter(([name, given]) => given !== undefined && !known.includes(name));
  return unknown.map(([name]) => `${whose} has a field \`${name}\`, which does nothing here${meant(name, known)}`);
}
