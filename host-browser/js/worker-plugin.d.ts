/** Components that nobody trusts, each in a Worker of its own. */
import type { Declaration, Plugin, PluginGrant } from './index.js';

/**
 * A component that you do not trust: as {@link Plugin}, but it runs in a Worker of its own. A run that takes longer than it may (what
 * it declares, two minutes at most) or is cancelled ends with the Worker, and the page stays usable; the next run has a new one.
 * Memories of the component have the maximum that it declares, 256 MiB at most. It reaches files and servers by messages, and the
 * page checks each of them against the grant once more: it sends the requests, so that no secret is in the Worker.
 *
 * The policy of the page has to let it start Workers (`worker-src 'self'`) and load the code.
 */
export class WorkerPlugin extends Plugin {
  /**
   * Throws as {@link Plugin} does.
   *
   * @param code the address of what `jco transpile --instantiation async` made of it; its core modules are beside
   * @param options `worker`: starts a Worker whose script calls `serve` of `windlass/component-worker`, where a bundler does not find that of the
   *   package; `core`: `windlass/core.wasm`, compiled, where it is not beside the package; `modules`: its core modules by their names, where they are not beside the code
   */
  constructor(
    declaration: Declaration,
    code: string | URL,
    grant?: PluginGrant,
    options?: { worker?: () => Worker; core?: WebAssembly.Module; modules?: Map<string, Uint8Array> },
  );
  /** Ends the Worker. A later run has a new one. */
  close(): void;
}
