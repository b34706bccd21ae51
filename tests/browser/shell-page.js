/** The shell in a page, over files in memory and over those in the browser's storage; gives what the test looks at. */
import { Agent, MemoryFileSystem, OpfsFileSystem } from 'windlass';
import { bashTool } from 'windlass/shell';
import { ScriptedModel } from 'windlass/testkit';

export async function run({ commands }) {
  return {
    inMemory: await runOn(new MemoryFileSystem(), commands),
    inStorage: await runOn(await OpfsFileSystem.open('shell'), commands),
  };
}

async function runOn(files, commands) {
  const exchanges = commands.map((command) => ({ respond: { content: [{ type: 'tool_use', name: 'Bash', input: { command } }] } }));
  const model = await ScriptedModel.load({ exchanges: [...exchanges, { respond: 'Done.' }] });
  const agent = new Agent({ fetch: model.fetch, tools: [bashTool()], files, cwd: '/work', allowedTools: ['Bash'] });
  const results = [];
  for await (const message of agent.query('Go.')) if (message.type === 'user') results.push(message.tool_use_result?.stdout);
  const { content } = await files.read('/work/b.txt');
  return { results, written: new TextDecoder().decode(content) };
}
