/** `node plugins-node.js PACKAGE PLUGINS SCENARIO`: a session with plugins in Node; its outcome as a line. */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { runPlugins } from './plugins.js';

const [directory, plugins, scenario] = process.argv.slice(2);
const outcome = await runPlugins(
  pathToFileURL(`${directory}/`),
  pathToFileURL(`${plugins}/`),
  JSON.parse(await readFile(scenario, 'utf8')),
);
console.log(JSON.stringify(outcome));
