/** Components. */
import { Agent, MemoryFileSystem, Plugin, declarationOf } from 'windlass';
import type { Declaration, DeclaredHook, PluginGrant } from 'windlass';
import core from 'windlass/files/files.core.wasm';
import { fileTools } from 'windlass/files';
import { wasi } from 'windlass/wasi';
import { WorkerPlugin } from 'windlass/worker-plugin';

const grant: PluginGrant = {
  http: ['https://a.example', { origin: 'https://b.example', methods: ['POST'] }],
  secrets: ['KEY'],
  workspace: 'read',
  roles: { log: { path: '/log', access: 'write' } },
  env: { TZ: 'UTC' },
  state: true,
};
// @ts-expect-error no such grant
export const everything: PluginGrant = { network: true };

export async function loaded(component: Uint8Array): Promise<string[]> {
  const declaration: Declaration = declarationOf(component);
  const instantiate = async () => ({});
  const plugin = new Plugin(declaration, instantiate, (path) => WebAssembly.compileStreaming(fetch(path)), grant, { wasi });
  const hooks: DeclaredHook[] = plugin.hooks;
  const tools = await fileTools({ modules: { 'files.core.wasm': core } });
  const inWorker: Plugin = new WorkerPlugin(declaration, './a/a.js', grant, { worker: () => new Worker('./worker.js', { type: 'module' }) });
  const files = new MemoryFileSystem({ files: { '/a': 'text' } });
  const agent = new Agent({ plugins: [plugin, inWorker, tools], files, pluginFetch: fetch, pluginSecret: async (name, { plugin, origin }) => name + plugin + origin });
  return [plugin.name, ...hooks.map(({ name }) => name), ...files.paths(), typeof agent.files];
}
