/** `query`, as the TypeScript Agent SDK has it. */
import { Agent } from './agent.js';
import { unknownFields } from './known-fields.js';
import { checkedPrompt } from './options.js';

/**
 * Asks in a session of its own; gives the messages as they come.
 *
 * @param {{ prompt: string | object[] | AsyncIterable<object>, options?: object }} asked a prompt, or a stream of user messages, each answered
 *   in its turn
 */
export function query(asked) {
  if (typeof asked !== 'object' || asked === null) throw new TypeError("`query` takes an object: `query({ prompt: 'Hello.', options: {} })`");
  const { prompt, options = {} } = asked;
  const [unknown] = unknownFields('what `query` takes', asked, ['prompt', 'options']);
  if (unknown !== undefined) throw new TypeError(unknown);
  if (!isStream(prompt)) checkedPrompt(prompt);
  const { abortController, ...rest } = options;
  const { signal } = abortController ?? {};
  if (abortController !== undefined && signal === undefined) throw new Error('`abortController` is no AbortController');
  const session = new Agent(rest).session();
  const closing = new AbortController();
  const messages = isStream(prompt) ? answers(session, prompt, signal, closing.signal) : session.only(prompt, { signal });
  const stop = messages.return.bind(messages);
  const close = async () => {
    closing.abort();
    await stop();
    await session.close(); // of a stream that nobody has begun to read, nothing else would
  };
  return Object.assign(messages, {
    close,
    return: async () => {
      await close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncDispose]: close,
    interrupt: () => session.interrupt(),
    setModel: (model) => session.setModel(model),
    setPermissionMode: (mode) => session.setPermissionMode(mode),
    stopTask: (id) => session.stopTask(id),
    mcpServerStatus: () => session.mcpServerStatus(),
    reconnectMcpServer: (name) => session.reconnectMcpServer(name),
    readMcpResource: (...asked) => session.readMcpResource(...asked),
  });
}

function isStream(prompt) {
  return typeof prompt?.[Symbol.asyncIterator] === 'function';
}

/** One answer after another, until the stream of prompts ends or the query is closed. */
async function* answers(session, prompts, given, closing) {
  const stream = prompts[Symbol.asyncIterator]();
  const signal = given ? AbortSignal.any([given, closing]) : closing;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await unlessAborted(stream.next(), signal);
      if (done) return;
      yield* session.prompt(contentOf(value), { signal });
    }
  } catch (error) {
    if (!closing.aborted) throw error;
  } finally {
    // Not waited for: a stream that waits for a person may take any time.
    Promise.resolve(stream.return?.()).catch(() => {});
    await session.close();
  }
}

function contentOf(prompt) {
  if (prompt?.type === 'user' && prompt.message?.content !== undefined) return checkedPrompt(prompt.message.content);
  throw new Error("a stream of prompts gives user messages: `{ type: 'user', message: { role: 'user', content: 'Hello.' } }`");
}

/** What is awaited, or the reason of the signal if that fires first. */
async function unlessAborted(awaited, signal) {
  let stop;
  const aborted = new Promise((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([awaited, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
