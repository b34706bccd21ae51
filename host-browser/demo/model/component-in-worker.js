/** Starts dropped components. Several megabytes, which only those load who drop one. */
import { WorkerPlugin } from 'windlass/worker-plugin';
import { published } from './made-modules.js';
import { CODE, transpiled } from './transpiled.js';

/**
 * @param {Uint8Array} bytes
 * @param {object} declaration
 * @param {object} grant
 * @returns {Promise<{ plugin: WorkerPlugin, remove: () => Promise<void> }>} `remove` ends its Worker; no call may be running
 */
export async function componentInWorker(bytes, declaration, grant) {
  const code = await published(await transpiled(bytes));
  try {
    const plugin = new WorkerPlugin(declaration, code.url(CODE), grant, { worker });
    const remove = async () => {
      plugin.close();
      await code.remove();
    };
    return { plugin, remove };
  } catch (error) {
    await code.remove();
    throw error;
  }
}

/** A Worker for a component; its script is bundled as the page is. */
function worker() {
  return new Worker(new URL('component-worker.js', document.baseURI), { type: 'module' });
}
