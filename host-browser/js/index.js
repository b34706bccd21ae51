/**
 * windlass in JavaScript: an agent inside a page, a Node program or an edge worker.
 *
 * @example
 * import { Agent, tool } from 'windlass';
 *
 * const agent = new Agent({
 *   baseUrl: '/my-proxy',                 // it adds the key
 *   tools: [tool('dice', 'Throws a die', { type: 'object' }, () => '4')],
 *   allowedTools: ['dice'],
 * });
 * for await (const message of agent.query('Throw the die.')) console.log(message);
 */
export { Agent } from './agent.js';
export { SystemClock } from './clock.js';
export { DurableObjectSessionStore } from './durable-object-session-store.js';
export { FileSystemError } from './file-system.js';
export { IndexedDbSessionStore } from './indexed-db-session-store.js';
export { MemoryFileSystem } from './memory-file-system.js';
export { MemorySessionStore } from './memory-session-store.js';
export { OpfsFileSystem } from './opfs-file-system.js';
export { PickedDirectoryFileSystem } from './picked-directory-file-system.js';
export { Plugin, declarationOf } from './plugin.js';
export { query } from './query.js';
export { StoreError } from './session-store.js';
export {
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  listSessions,
  renameSession,
  tagSession,
  unfinishedTurn,
} from './stored-sessions.js';
export { tool } from './tool.js';
export { init } from './wasm.js';
