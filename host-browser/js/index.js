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
export { MemoryFileSystem } from './memory-file-system.js';
export { Plugin, declarationOf } from './plugin.js';
export { tool } from './tool.js';
export { init } from './wasm.js';
