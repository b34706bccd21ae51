/** Components: what they say of themselves, and what they may reach. */
import type { HookEvent } from './index.js';
import type { ToolDefinition } from './tool.js';
import type { WasiHost } from './wasi.js';

/** What a component says of itself. */
export interface Declaration {
  name: string;
  tools?: ToolDefinition[];
  hooks?: DeclaredHook[];
  [field: string]: unknown;
}

/** A hook of a component: a judge may refuse, ask or narrow; an observer only sees. */
export interface DeclaredHook {
  name: string;
  /** Those of other hosts, at which nothing happens here, are taken as well: a component is the same everywhere. */
  event: HookEvent | 'ConfigChange' | 'Setup' | 'TaskCompleted' | 'TeammateIdle' | 'WorktreeCreate' | 'WorktreeRemove';
  kind: 'judge' | 'observer';
  matcher?: string;
  timeout_ms?: number;
}

/** What a component may reach, as far as it declares to need it. What is left out it does not get. */
export interface PluginGrant {
  /** The working directory of the session: for tools, where rules let them. */
  workspace?: 'read' | 'write';
  /** Directories by their absolute paths: for tools and hooks. */
  directories?: Record<string, 'read' | 'write'>;
  /**
   * Directories for roles that it declares: every call that runs and every hook reaches them, and in one to read it writes
   * nothing. The paths are absolute.
   */
  roles?: Record<string, { path: string; access: 'read' | 'write' }>;
  /**
   * Where its requests may go: origins with methods, an origin alone for `GET`. Each is `https://` and a host, or `http://` and this
   * machine, written as `URL.origin` is. In a page the server has to let the page read its answers (CORS).
   */
  http?: (string | { origin: string; methods: HttpMethod[] })[];
  /**
   * The secrets that it may use, by the names that it declares: each only for origins of its declared audience that are granted, too.
   * The option `pluginSecret` of the agent gives their values.
   */
  secrets?: string[];
  /** The values of variables that it reads with `config`. */
  env?: Record<string, string>;
  /**
   * Whether it may remember something: until the session ends (`session` or `true`), or for good (`durable`), where the option
   * `pluginState` of the agent says.
   */
  state?: boolean | 'session' | 'durable';
  /**
   * Under what it remembers for good: at most 120 characters, the same again for the next version of the component, and another one
   * for every other component. Needed with `durable`.
   */
  stateId?: string;
}

/**
 * Where components remember for good: values under a `stateId` and keys. The stores of sessions of this package have one
 * (`sessionStore.pluginState`), beside the sessions.
 */
export interface PluginStateStore {
  /** All values under an id. */
  load(stateId: string): Promise<Map<string, Uint8Array>>;
  /** Sets values, and removes those that are `undefined`: all of it, or nothing. A component has at most 16 MiB in 1,000 values. */
  change(stateId: string, changes: Map<string, Uint8Array | undefined>): Promise<void>;
  /** Removes all values under an id: for a component that is gone. */
  delete(stateId: string): Promise<void>;
}

/** The methods that can be granted. */
export type HttpMethod = 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * A component that `jco transpile --instantiation async` turned into JavaScript: its tools and hooks.
 *
 * Each run has a fresh instance, which sees what was granted and nothing else. One that declares `"instance": "session"` keeps an instance for
 * the calls of its tools in a session, as long as they do not have to wait. It runs on the thread of the agent: no browser
 * can stop WebAssembly in the middle of a call there or limit its memory (`limits.memory_bytes`; `loadComponent` does), so take `WorkerPlugin` of `windlass/worker-plugin` for components that you do not trust. A
 * component that imports WASI needs `wasi` of `windlass/wasi`.
 *
 * A component does not wait: where it sends a request it is stopped, and it runs again from the beginning once the answer is there. Each
 * request is sent once, 128 of them in one call at most.
 */
export class Plugin {
  /**
   * Throws where the declaration has what nothing here enforces, or where something is granted for which it does not ask. Where it asks to
   * read and is granted to write, it reads.
   */
  constructor(
    declaration: Declaration,
    instantiate: (getCoreModule: (path: string) => Promise<WebAssembly.Module>, imports: any) => Promise<any>,
    module: (path: string) => Promise<WebAssembly.Module>,
    grant?: PluginGrant,
    options?: { wasi?: WasiHost },
  );
  readonly name: string;
  readonly tools: ToolDefinition[];
  readonly hooks: DeclaredHook[];
}

/** The declaration that a component carries in its custom section `windlass:plugin`. */
export function declarationOf(component: Uint8Array): Declaration;
