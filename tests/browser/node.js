/** `node node.js PACKAGE BUNDLE`: the demonstration in Node; messages and, last, the outcome as lines. */
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { partsOf, runDemo } from './demo-run.js';

const [directory, bundlePath] = process.argv.slice(2);
const bundle = JSON.parse(await readFile(bundlePath, 'utf8'));
const outcome = await runDemo(await partsOf(pathToFileURL(`${directory}/`)), bundle, (line) => console.log(line));
console.log(JSON.stringify(outcome));
