// What the conformance suite of the Model Context Protocol runs: `windlass mcp test`, with the calls that a scenario waits for.
// The suite says the scenario in the environment and the address as the last argument; `$WINDLASS` is the program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';

const { WINDLASS = 'windlass', MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;

/** The calls of each scenario that wants some: the tool, and its input. */
const CALLS = {
  tools_call: [['add_numbers', { a: 5, b: 3 }]],
  'elicitation-sep1034-client-defaults': [['test_client_elicitation_defaults', {}]],
  'sse-retry': [['test_reconnection', {}]],
  'sep-2322-client-request-state': [
    ['test_mrtr_echo_state', {}],
    ['test_mrtr_unrelated', {}],
    ['test_mrtr_no_state', {}],
    ['test_mrtr_no_result_type', {}],
  ],
  'http-standard-headers': [
    ['test_headers', {}],
    ['my-hyphenated-tool', {}],
  ],
  'http-custom-headers': (JSON.parse(context).toolCalls ?? []).map(({ name, arguments: input }) => [name, input]),
  'http-invalid-tool-headers': [['valid_tool', { region: 'here' }]],
  'json-schema-2020-12-preservation': [],
};

const calls = (CALLS[scenario] ?? []).flatMap(([tool, input]) => ['--call', tool, '--input', JSON.stringify(input)]);

/**
 * The address of a server that forwards everything to `address`, and calls of tools only once the client listens.
 *
 * The scenario `sse-retry` takes whatever GET comes last for the one that the client reconnects with, and closes the stream of the
 * call 50 ms after it. On a busy machine the GET with which a client listens to a server comes later than that now and then, because
 * nothing orders it and the call; it is no reconnection then, although the suite would take it for one that came too early.
 */
async function inOrder(address) {
  let listens;
  const listening = new Promise((resolve) => (listens = resolve));
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts);
    if (body.includes('"tools/call"')) await listening;
    const forwarded = http.request(address, { method: request.method, headers: request.headers }, (answer) => {
      if (request.method === 'GET') listens();
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    forwarded.end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/`, server };
}

const address = process.argv.at(-1);
const { url, server } = scenario === 'sse-retry' ? await inOrder(address) : { url: address };
const child = spawn(WINDLASS, ['mcp', 'test', url, ...calls], { stdio: 'inherit' });
const [status] = await once(child, 'exit');
server?.closeAllConnections();
server?.close();
process.exit(status ?? 1);
