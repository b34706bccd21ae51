/** Files that a guide prints: blocks of code whose first line has the name of a file behind the language. */
import { readFileSync } from 'node:fs';

/**
 * @param {string} guide a path from the root of the repository
 * @returns {Record<string, string>} the texts by the names of their files
 */
export function printedFiles(guide) {
  const text = readFileSync(new URL(`../../../${guide}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)];
  return Object.fromEntries(blocks.map(([, name, content]) => [name, content]));
}
