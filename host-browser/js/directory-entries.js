/** Entries of a directory that the browser hands out: found, made, replaced and removed. */
import { FileSystemError } from './file-system.js';

/** What is another text whenever a content is written by the functions here. */
export function versionOf({ size, lastModified }) {
  return `${lastModified}:${size}`;
}

/** Chromium writes beside a file first, and shows that. */
export function isPartOfWrite(name) {
  return name.endsWith('.crswap');
}

/** Whether a listing has exactly this name. */
export async function isListed(directory, name) {
  for await (const other of directory.keys()) {
    if (other === name) return true;
  }
  return false;
}

/** What a directory has under a name, in the platform's own view of names. */
export async function childNamed(directory, name) {
  try {
    return await directory.getFileHandle(name);
  } catch (error) {
    if (error.name !== 'TypeMismatchError') return nothing(error);
  }
  return directory.getDirectoryHandle(name).catch(nothing);
}

/** For `catch`: nothing, where the error says that there is nothing. */
export function nothing(error) {
  if (error.name !== 'NotFoundError') throw error;
  return undefined;
}

export async function createDirectory(parent, name, existing, { path }) {
  if (existing?.kind === 'file') throw new FileSystemError('exists', `${path} is a file`);
  if (!existing) await parent.getDirectoryHandle(name, { create: true });
}

export async function remove(parent, name, existing, { path }) {
  if (!existing) throw new FileSystemError('missing', `there is no ${path}`);
  await parent.removeEntry(name);
}

export async function write(parent, name, existing, { path, content }) {
  if (existing?.kind === 'directory') throw new FileSystemError('exists', `${path} is a directory`);
  const handle = existing ?? (await parent.getFileHandle(name, { create: true }));
  const before = await handle.getFile().catch(nothing);
  if (!before) throw new FileSystemError('refused', `${path} is a link, or something else that the browser does not show`);
  try {
    await replace(parent, handle, content);
    // Times have no more than milliseconds: two contents must not look alike.
    while (versionOf(await handle.getFile()) === versionOf(before)) await replace(parent, handle, content);
  } catch (error) {
    // An empty file is no part of a change that failed; why it failed counts more than that it stays.
    if (!existing) await parent.removeEntry(name).catch(() => {});
    throw error;
  }
}

/** Replaces a content in one step: `createWritable` writes beside the file until it is closed. */
async function replace(parent, handle, content) {
  if (!handle.createWritable) {
    await replaceByMove(parent, handle, content);
    return;
  }
  const writing = await handle.createWritable();
  try {
    await writing.write(content);
    await writing.close();
  } catch (error) {
    await writing.abort().catch(() => {});
    throw error;
  }
}

/** The same in browsers that write their own storage by a handle of workers only. */
async function replaceByMove(parent, handle, content) {
  if (!handle.createSyncAccessHandle || !handle.move) {
    throw new FileSystemError('not-allowed', 'this browser writes its storage in workers only: run the agent in a Worker');
  }
  const beside = await parent.getFileHandle(`.windlass-${crypto.randomUUID()}.tmp`, { create: true });
  try {
    const access = await beside.createSyncAccessHandle();
    try {
      for (let at = 0; at < content.length; ) at += access.write(content.subarray(at), { at });
      access.flush();
    } finally {
      access.close();
    }
    await beside.move(parent, handle.name);
  } catch (error) {
    await parent.removeEntry(beside.name).catch(() => {});
    throw error;
  }
}
