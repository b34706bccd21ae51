/** The worker of the tests of tools: components, a server of MCP and a shell, in sessions of an object each. */
import module from 'windlass_browser_bg.wasm';
import { declaration as policyDeclaration } from 'components/policy/declaration.js';
import { instantiate as policyInstantiate } from 'components/policy/policy.js';
import { declaration as wordsDeclaration } from 'components/words/declaration.js';
import { instantiate as wordsInstantiate } from 'components/words/words.js';
import modules from 'components/modules.js';
import { withSettings } from 'components/settings.js';
import { edge } from 'package/edge.js';
import { MemoryFileSystem, Plugin, tool } from 'package/index.js';
import { httpServers } from 'package/mcp.js';
import { bashTool } from 'package/shell.js';

const moduleOf = (path) => modules[path];
const words = new Plugin(wordsDeclaration, wordsInstantiate, moduleOf, { workspace: 'read' });
const policy = new Plugin(policyDeclaration, policyInstantiate, moduleOf);

// A tool of the embedder, which the hook judges by the path that a call names.
const write = tool('Write', 'Writes a file.', { type: 'object', properties: { file_path: { type: 'string' } } }, ({ file_path }) => `wrote ${file_path}`, {
  paths: [{ field: 'file_path', access: 'write' }],
});

const { handler, SessionObject } = edge({
  module,
  authorize: () => {},
  options: (env) => ({
    baseUrl: env.MODEL,
    apiKey: 'secret',
    cwd: '/project',
    files: new MemoryFileSystem({ files: { '/project/README.md': 'one two two\n' } }),
    plugins: [words, policy],
    tools: [write, bashTool()],
    mcpServers: httpServers({ tester: { type: 'http', url: env.MCP } }),
    allowedTools: ['CountWords', 'Write', 'Bash', 'mcp__tester'],
  }),
});

/** Whose files have instructions. */
const instructed = (namespace, made) =>
  edge({
    module,
    namespace,
    authorize: () => {},
    options: async (env) => ({ baseUrl: env.MODEL, apiKey: 'secret', tools: [write], allowedTools: ['Write'], ...(await made()) }),
  });
// As the guide prints it, with rules.
const settled = instructed('SETTLED', async () => ({ ...(await withSettings()), settings: { permissions: { deny: ['Write'] } } }));
// Without the module that reads them.
const unsettled = instructed('UNSETTLED', () => ({ files: new MemoryFileSystem({ files: { '/CLAUDE.md': 'Answer in one sentence.' } }) }));
const SettledObject = settled.SessionObject;
const UnsettledObject = unsettled.SessionObject;

export { SessionObject, SettledObject, UnsettledObject };
export default {
  fetch(request, env) {
    const kind = { settled, unsettled }[request.headers.get('settings')];
    return (kind?.handler ?? handler).fetch(request, env);
  },
};
