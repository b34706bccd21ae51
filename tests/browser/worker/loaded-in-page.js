/** What the tests of components that are loaded as they are do in a page. */
import * as windlass from '/package/index.js';
import * as testkit from '/package/testkit.js';

/** What a bundler would find for the package. */
const IMPORTS = {
  '@bytecodealliance/jco-transpile/component': '/jco/js-component-bindgen-component.js',
  ...Object.fromEntries(['cli', 'filesystem', 'io', 'random'].map((name) => [`@bytecodealliance/preview2-shim/${name}`, `/shim/${name}.js`])),
};

/** What the tool of a component, given as a file, says of a text. */
export async function counted(base64, text) {
  await windlass.init();
  const map = document.createElement('script');
  map.type = 'importmap';
  map.textContent = JSON.stringify({ imports: IMPORTS });
  document.head.append(map);
  const { loadComponent } = await import('/package/components.js');
  const file = new File([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], 'words.wasm');
  const worker = () => new Worker('/package/component-worker-script.js', { type: 'module' });
  const plugin = await loadComponent(file, { workspace: 'read' }, { worker });
  const exchanges = [
    { respond: { content: [{ type: 'tool_use', name: 'CountWords', input: { file_path: '/w/a.txt', top: 1 } }] } },
    { respond: 'Done.' },
  ];
  const model = await testkit.ScriptedModel.load({ exchanges });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    plugins: [plugin],
    files: new windlass.MemoryFileSystem({ files: { '/w/a.txt': text } }),
    cwd: '/w',
    allowedTools: ['CountWords'],
  });
  let told;
  for await (const message of agent.query('Go.')) if (message.type === 'user') told = JSON.stringify(message.message.content);
  plugin.close();
  return told;
}
