/** `node workerd.js PACKAGE BUNDLE`: the demonstration in workerd; messages and, last, the outcome as lines. */
import { readFile } from 'node:fs/promises';
import { ReplayWorker } from './edge/replay.js';

const [directory, bundle] = process.argv.slice(2);
const worker = await ReplayWorker.start(directory);
try {
  process.stdout.write(await worker.demo(await readFile(bundle, 'utf8')));
} finally {
  await worker.stop();
}
