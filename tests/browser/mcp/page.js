/** A session in a page with an MCP server of another origin; gives what the test looks at. */
import { Agent } from 'windlass';
import { httpServers } from 'windlass/mcp';
import { ScriptedModel } from 'windlass/testkit';

export async function run({ url, closedUrl }) {
  const exchanges = [
    { respond: { content: [{ type: 'tool_use', name: 'mcp__tester__add', input: { a: 1, b: 2 } }] } },
    { expect: { last_user_contains: '3' }, respond: 'It is 3.' },
  ];
  const model = await ScriptedModel.load({ exchanges });
  const agent = new Agent({
    fetch: model.fetch,
    mcpServers: httpServers({ tester: { type: 'http', url }, closed: { type: 'http', url: closedUrl } }),
    allowedTools: ['mcp__tester'],
    onWarning: () => {},
  });
  const session = agent.session();
  const messages = [];
  for await (const message of session.prompt('Go.')) messages.push(message);
  const status = await session.mcpServerStatus();
  const resource = await session.readMcpResource('tester', 'ui://tester/chart');
  await session.close();
  model.verify();
  return { init: messages[0], result: messages.at(-1).result, status, resource };
}
