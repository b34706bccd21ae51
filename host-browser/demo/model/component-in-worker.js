/** Starts dropped components. Several megabytes, which only those load who drop one. */
import { transpileComponent } from 'windlass/components';
import { WorkerPlugin } from 'windlass/worker-plugin';
import { published } from './made-modules.js';

/**
 * @param {Uint8Array} bytes
 * @param {object} declaration
 * @param {object} grant
 * @returns {Promise<{ plugin: WorkerPlugin, remove: () => Promise<void> }>} `remove` ends its Worker; no call may be running
 */
export async function componentInWorker(bytes, declaration, grant) {
  const { code, files } = await transpileComponent(bytes);
  const made = await published(files);
  try {
    const plugin = new WorkerPlugin(declaration, made.url(code), grant, { worker });
    const remove = async () => {
      plugin.close();
      await made.remove();
    };
    return { plugin, remove };
  } catch (error) {
    await made.remove();
    throw error;
  }
}

/** A Worker for a component; its script is bundled as the page is. */
function worker() {
  return new Worker(new URL('component-worker.js', document.baseURI), { type: 'module' });
}
