/** Runs components on files: what a call sees of a file system, and that its changes are kept. */
import { CallTree } from './call-tree.js';
import { FileContents } from './file-contents.js';
import { limitsOf } from './file-system.js';
import { TREE } from './file-tree.js';
import { checkedGrant, filesystemOf } from './file-view.js';
import { Grant } from './wasm.js';

/** Of each file system whose answers are waited for: the call that has its turn last, and contents that were read. */
const inUse = new WeakMap();

/**
 * Runs a component that was granted files. The component does not wait for a file system, so it is run again, from the beginning,
 * when it asks for what is not in memory: what it changes counts from the attempt that is complete, and is in the file
 * system when this resolves.
 *
 * @template T
 * @param {object} fileSystem
 * @param {{ cwd: string, roots: { path: string, access: string }[], deny: object[] }} grant
 * @param {AbortSignal | undefined} signal when it has fired, nothing is changed any more
 * @param {(files: { filesystem: (count?: () => void, lasting?: object, handled?: object) => object, isComplete: () => boolean }) => T | Promise<T>}
 *   attempt runs it once; `filesystem` gives the imports of `windlass:host/filesystem`. Nothing is changed if it throws.
 * @param {import('./recorded-requests.js').RecordedRequests} [requests] what else it may be stopped for and run again
 * @returns {Promise<T>} what the complete attempt gave
 */
export async function runOnFiles(fileSystem, grant, signal, attempt, requests) {
  // Not in a row with others, which would wait for servers, too: what one of them changes meanwhile is noticed in the end.
  if (requests) return runOnCopy(fileSystem, new FileContents(limitsOf(fileSystem).maxBytes), grant, signal, attempt, requests);
  const tree = fileSystem[TREE];
  if (tree) return attempt({ filesystem: (...given) => filesystemOf(tree, grant, ...given), isComplete: () => true });
  const use = inUse.get(fileSystem) ?? { last: Promise.resolve(), contents: new FileContents(limitsOf(fileSystem).maxBytes) };
  inUse.set(fileSystem, use);
  // One call after the other: what one has changed, the next one sees.
  const done = use.last.then(() => runOnCopy(fileSystem, use.contents, grant, signal, attempt));
  use.last = done.catch(() => {});
  return done;
}

async function runOnCopy(fileSystem, contents, given, signal, attempt, requests) {
  signal?.throwIfAborted();
  const { maxEntries, exclude } = limitsOf(fileSystem);
  const grant = narrowed(checkedGrant(given), fileSystem.access ?? 'write', exclude);
  const rules = new Grant(JSON.stringify(grant));
  const isOpen = (path) => rules.access(path) !== undefined;
  const tree = new CallTree(fileSystem, contents, isOpen, maxEntries);
  contents.begin();
  for (const { path } of grant.roots) if (isOpen(path)) await tree.look(path);
  const files = { filesystem: (...given) => filesystemOf(tree, grant, ...given), isComplete: () => tree.isComplete() };
  for (;;) {
    signal?.throwIfAborted();
    const outcome = await settled(() => attempt(files));
    if (!tree.isComplete()) {
      await tree.readMissing();
    } else if (requests && !requests.isComplete()) {
      tree.takeBack();
      await requests.answer();
    } else {
      if ('error' in outcome) throw outcome.error;
      signal?.throwIfAborted();
      await tree.keep();
      return outcome.value;
    }
  }
}

/** A grant without what the file system does not give at all, and what it leaves out unless a root lies in it. */
function narrowed(grant, access, exclude) {
  const roots = access === 'write' ? grant.roots : grant.roots.map((root) => ({ ...root, access: 'read' }));
  const isNamed = (name) => roots.some(({ path }) => path.split('/').includes(name));
  const left = exclude.filter((name) => !isNamed(name)).map((name) => ({ pattern: literal(name), access: 'read' }));
  return { ...grant, roots, deny: [...grant.deny, ...left] };
}

/** The pattern of a name, wherever it is. */
function literal(name) {
  return `**/${name.replace(/[\\*?[\]{}]/g, '\\$&')}`;
}

async function settled(run) {
  try {
    return { value: await run() };
  } catch (error) {
    return { error };
  }
}
