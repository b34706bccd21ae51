/** Files in the browser's storage. Each part gives what a test compares; all run in a page. */
import * as fileTools from '/package/files.js';
import * as testkit from '/package/testkit.js';
import * as windlass from '/package/index.js';

const { MemoryFileSystem, OpfsFileSystem, PickedDirectoryFileSystem } = windlass;

const bytes = (text) => new TextEncoder().encode(text);

/** Calls of tools as the model makes them, one after another. */
const callOf = (name, input) => ({ respond: { content: [{ type: 'tool_use', name, input }] } });

/** What is broken of the contract of file systems. */
export async function contract(kind) {
  const places = {
    memory: () => {
      const files = new MemoryFileSystem();
      return () => files;
    },
    opfs: () => {
      const name = crypto.randomUUID();
      return () => OpfsFileSystem.open(name);
    },
    directory: () => {
      const name = crypto.randomUUID();
      return async () => {
        const root = await navigator.storage.getDirectory();
        return PickedDirectoryFileSystem.open(await root.getDirectoryHandle(name, { create: true }));
      };
    },
  };
  return testkit.checkFileSystem(() => ({ fileSystem: places[kind]() }));
}

/** The same in a Worker of a browser that writes its storage by handles of workers only. */
export function contractInWorker() {
  const source = `
    delete FileSystemFileHandle.prototype.createWritable;
    const { contract } = await import('${import.meta.url}');
    postMessage(await contract('opfs').catch((error) => [error.message]));`;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
  }).finally(() => worker.terminate());
}

/** Runs one prompt of an agent with the file tools; gives the results of the calls. */
export async function agentOn(files, calls, options = {}) {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges: [...calls.map((call) => callOf(...call)), { respond: 'Done.' }] }, { clock });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    clock,
    files: typeof files === 'string' ? await OpfsFileSystem.open(files) : files,
    plugins: [await fileTools.fileTools()],
    cwd: '/project',
    permissionMode: 'acceptEdits',
    freeWorkspaceReads: true,
    ...options,
  });
  const results = [];
  for await (const { type, message } of agent.query('Go.')) {
    if (type !== 'user' || typeof message.content === 'string') continue;
    results.push(...message.content.filter(({ type }) => type === 'tool_result').map(resultOf));
  }
  model.verify();
  return results;
}

function resultOf({ content, is_error: isError }) {
  const text = typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');
  return { text, isError: Boolean(isError) };
}

/** Puts files in place, without an agent. */
export async function put(name, contents) {
  const files = await OpfsFileSystem.open(name);
  await files.change([
    { type: 'createDirectory', path: '/project' },
    ...Object.entries(contents).map(([path, text]) => ({ type: 'write', path, content: bytes(text) })),
  ]);
}

export async function textOf(name, path) {
  const found = await (await OpfsFileSystem.open(name)).read(path);
  return found && new TextDecoder().decode(found.content);
}

/** A file is edited while another tab changes it: after it was listed for the call, before the change is made. */
export async function changedUnderneath(name) {
  const [mine, theirs] = [await OpfsFileSystem.open(name), await OpfsFileSystem.open(name)];
  let edits = 0;
  const files = {
    stat: (path) => mine.stat(path),
    list: (path) => mine.list(path),
    read: (path) => mine.read(path),
    change: async (changes) => {
      edits += 1;
      if (edits === 1) await theirs.change([{ type: 'write', path: '/project/a.txt', content: bytes('alpha of theirs\n') }]);
      await mine.change(changes);
    },
  };
  const read = ['Read', { file_path: 'a.txt' }];
  const edit = ['Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'omega' }];
  return agentOn(files, [read, edit, edit, read, edit]);
}

/** Adds one to a number so many times, as several tabs do at the same time. */
export async function count(name, times) {
  const files = await OpfsFileSystem.open(name);
  for (let done = 0; done < times; ) {
    const { content, version } = await files.read('/count');
    const next = `${Number(new TextDecoder().decode(content)) + 1}`;
    try {
      await files.change([{ type: 'write', path: '/count', content: bytes(next), replaces: version }]);
      done += 1;
    } catch (error) {
      if (error.kind !== 'changed') throw error;
    }
  }
}

/** Keeps the handle of a directory, and after the page was loaded again opens what was kept. */
export async function keepHandle(name) {
  const root = await navigator.storage.getDirectory();
  const handle = await root.getDirectoryHandle(name, { create: true });
  await handles('readwrite', (kept) => kept.put(handle, 'directory'));
}

export async function openKeptHandle(path) {
  const { result } = await handles('readonly', (kept) => kept.get('directory'));
  const found = await (await PickedDirectoryFileSystem.open(result)).read(path);
  return new TextDecoder().decode(found.content);
}

async function handles(mode, ask) {
  const answered = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request);
    request.onerror = () => reject(request.error);
  });
  const opening = indexedDB.open('handles', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('kept');
  const { result: database } = await answered(opening);
  return answered(ask(database.transaction('kept', mode).objectStore('kept')));
}

/** Begins to replace a large file, and does not wait for it. */
export async function beginLarge(name, letter, length) {
  const files = await OpfsFileSystem.open(name);
  files.change([{ type: 'write', path: '/large', content: new Uint8Array(length).fill(letter.charCodeAt(0)) }]).catch(() => {});
}

/** The letters of a file, each once, its length, and what is beside it. */
export async function lettersOf(name, path) {
  const files = await OpfsFileSystem.open(name);
  const { content } = await files.read(path);
  return { letters: [...new Set(content)].map((code) => String.fromCharCode(code)), length: content.length, all: (await files.list('/')).map(({ name }) => name) };
}

/** Waits for a directory that is dropped on the page. */
export function awaitDrop() {
  document.body.ondragover = (event) => event.preventDefault();
  globalThis.dropped = new Promise((resolve) => {
    document.body.ondrop = (event) => {
      event.preventDefault();
      resolve(event.dataTransfer.items[0].getAsFileSystemHandle());
    };
  });
}

/** What an agent and the file system see of the directory that was dropped. */
export async function lookAtDropped() {
  const files = await PickedDirectoryFileSystem.open(await globalThis.dropped, { access: 'read' });
  const results = await agentOn(files, [
    ['Read', { file_path: '/a.txt' }],
    ['Read', { file_path: '/link' }],
    ['Read', { file_path: '/folder/passwd' }],
    ['Grep', { pattern: '.', path: '/', output_mode: 'content' }],
    ['Write', { file_path: '/new.txt', content: 'x' }],
  ], { cwd: '/' });
  const names = async (path) => (await files.list(path))?.map(({ name }) => name).sort();
  const changing = files.change([{ type: 'write', path: '/new.txt', content: bytes('x') }]);
  return { results, root: await names('/'), folder: await names('/folder'), refused: await changing.catch(({ kind }) => kind) };
}

/** What an agent does in the directory that was dropped, and what becomes of changes at its links. */
export async function workInDropped() {
  const files = await PickedDirectoryFileSystem.open(await globalThis.dropped);
  const results = await agentOn(files, [
    ['Read', { file_path: '/a.txt' }],
    ['Edit', { file_path: '/a.txt', old_string: 'alpha', new_string: 'omega' }],
    ['Write', { file_path: '/new/b.txt', content: 'new' }],
    ['Write', { file_path: '/link', content: 'EVIL' }],
    ['Write', { file_path: '/folder/passwd', content: 'EVIL' }],
  ], { cwd: '/' });
  const refused = [];
  for (const change of [{ type: 'createDirectory', path: '/folder' }, { type: 'remove', path: '/link' }]) {
    refused.push(await files.change([change]).then(() => 'done', ({ kind }) => kind));
  }
  return { results, refused };
}
