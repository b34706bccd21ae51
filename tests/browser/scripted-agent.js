/** Agents whose model follows a script, for tests. */
import { testkit, windlass } from './package-under-test.js';

/** An agent whose model follows these exchanges, in virtual time. */
export async function agentOf(exchanges, options = {}) {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  return { agent: new windlass.Agent({ fetch: model.fetch, clock, ...options }), model };
}

/** An answer that calls a tool. */
export function callOf(name, input = {}) {
  return { respond: { content: [{ type: 'tool_use', name, input }] } };
}

export async function all(run) {
  const messages = [];
  for await (const message of run) messages.push(message);
  return messages;
}
