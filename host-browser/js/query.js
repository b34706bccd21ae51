/** `query`, as the TypeScript Agent SDK has it. */
import { Agent } from './agent.js';

/**
 * Asks in a session of its own; gives the messages as they come.
 *
 * @param {{ prompt: string | object[] | AsyncIterable<object>, options?: object }} asked a prompt, or a stream of user messages, each answered
 *   in its turn
 */
export function query({ prompt, options = {} }) {
  const { abortController, ...rest } = options;
  const { signal } = abortController ?? {};
  if (abortController !== undefined && signal === undefined) throw new Error('`abortController` is no AbortController');
  const session = new Agent(rest).session();
  const messages = isStream(prompt) ? answers(session, prompt, signal) : session.only(prompt, { signal });
  return Object.assign(messages, {
    interrupt: () => session.interrupt(),
    setModel: (model) => session.setModel(model),
    setPermissionMode: (mode) => session.setPermissionMode(mode),
    stopTask: (id) => session.stopTask(id),
  });
}

function isStream(prompt) {
  return typeof prompt?.[Symbol.asyncIterator] === 'function';
}

/** One answer after another, until the stream of prompts ends. */
async function* answers(session, prompts, signal) {
  try {
    for await (const { message } of prompts) yield* session.prompt(message.content, { signal });
  } finally {
    await session.close();
  }
}
