/**
 * Components from an address or a dropped file: jco makes JavaScript of them where they are loaded. Install it beside windlass
 * (`npm install @bytecodealliance/jco-transpile`); it is several megabytes, which nobody loads who does not import this module.
 */
import type { Declaration, Plugin, PluginGrant } from './index.js';
import type { WorkerPlugin } from './worker-plugin.js';

/** Where a component comes from: an address (relative ones are those of the page), an answer that brings it, a file, or its bytes. */
export type ComponentSource = URL | string | Response | Blob | ArrayBuffer | Uint8Array;

export interface LoadOptions {
  /** Whether it runs in a Worker of its own, which can be ended; default yes. Without one it runs on this thread, which nothing can stop. */
  inWorker?: boolean;
  /** Starts a Worker whose script calls `serve` of `windlass/component-worker`, where a bundler does not find that of the package. */
  worker?: () => Worker;
  /** `windlass/core.wasm`, compiled, where it is not beside the package. */
  core?: WebAssembly.Module;
}

/**
 * Loads a component with what it is granted. Show a person what `declarationOf` reads from it first: that runs nothing of it.
 *
 * The policy of the page has to let it run code from `blob:` (`script-src blob:`). Where it must not, serve what
 * {@link transpileComponent} makes under addresses of yours and give them to `WorkerPlugin`. Edge workers compile nothing while they run: make
 * components for them beforehand.
 *
 * Rejects where the source is no component, has more than 128 MiB, imports what is not handed out, or is granted what it does not declare.
 */
export function loadComponent(source: ComponentSource, grant: PluginGrant | undefined, options: LoadOptions & { inWorker: false }): Promise<Plugin>;
export function loadComponent(source: ComponentSource, grant?: PluginGrant, options?: LoadOptions): Promise<WorkerPlugin>;

/** JavaScript and core modules of a component. */
export interface TranspiledComponent {
  declaration: Declaration;
  /** The name of the file whose address `WorkerPlugin` takes; it asks for the others, which have to lie beside it. */
  code: string;
  /** Files by their names. */
  files: Map<string, Uint8Array>;
}

/** Makes JavaScript of a component; nothing of it runs. Rejects as {@link loadComponent} does. */
export function transpileComponent(component: Uint8Array): Promise<TranspiledComponent>;
