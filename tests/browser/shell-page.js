/** The shell in a page; gives what the test looks at. */
import { Agent, MemoryFileSystem } from 'windlass';
import { bashTool } from 'windlass/shell';
import { ScriptedModel } from 'windlass/testkit';

export async function run({ commands }) {
  const exchanges = commands.map((command) => ({ respond: { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] } }));
  const model = await ScriptedModel.load({ exchanges: [...exchanges, { respond: 'Done.' }] });
  const files = new MemoryFileSystem({ files: { '/work/a.txt': 'alpha\nbeta\n' } });
  const agent = new Agent({ fetch: model.fetch, tools: [bashTool()], files, cwd: '/work', allowedTools: ['Bash'] });
  const results = [];
  for await (const message of agent.query('Go.')) if (message.type === 'user') results.push(message.tool_use_result?.stdout);
  return { results, paths: files.paths() };
}
