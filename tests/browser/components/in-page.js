/** A real component in a page: on its thread, or in a Worker. */
import * as assets from '/package/assets.js';
import * as windlass from '/package/index.js';
import * as testkit from '/package/testkit.js';
import { wasi } from '/package/wasi.js';
import { WorkerPlugin } from '/package/worker-plugin.js';
import { runComponent } from './run.js';

export function component(name, inputs, { inWorker, ...options }) {
  const plugin = async (declaration, code, grant) => {
    if (inWorker) return new WorkerPlugin(declaration, code, grant);
    const { instantiate } = await import(code);
    return new windlass.Plugin(declaration, instantiate, (path) => assets.readModule(new URL(path, code)), grant, { wasi });
  };
  return runComponent({ windlass, testkit, plugin }, new URL(`/components/${name}/`, location.href), name, inputs, options);
}
