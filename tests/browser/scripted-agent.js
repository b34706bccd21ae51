/** Agents whose model follows a script, for tests. */
import { testkit, windlass } from './package-under-test.js';

/** A model that follows these exchanges in virtual time, and the options by which an agent has it. */
export async function scripted(exchanges) {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  return { model, options: { fetch: model.fetch, clock } };
}

/** An agent whose model follows these exchanges. */
export async function agentOf(exchanges, more = {}) {
  const { model, options } = await scripted(exchanges);
  return { agent: new windlass.Agent({ ...options, ...more }), model };
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
