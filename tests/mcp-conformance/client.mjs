// What the conformance suite of the Model Context Protocol runs: `windlass mcp test`, with the calls that a scenario waits for.
// The suite says the scenario in the environment and the address as the last argument; `$WINDLASS` is the program.
import { spawnSync } from 'node:child_process';

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
const { status } = spawnSync(WINDLASS, ['mcp', 'test', process.argv.at(-1), ...calls], { stdio: 'inherit' });
process.exit(status ?? 1);
