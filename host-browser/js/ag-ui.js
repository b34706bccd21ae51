/**
 * The messages of a run as AG-UI events (`windlass/ag-ui`), for user interfaces that speak this protocol. Nothing is loaded for it: the
 * types are those of `@ag-ui/core`.
 *
 * @example
 * import { Agent } from 'windlass';
 * import { agUiEvents } from 'windlass/ag-ui';
 *
 * for await (const event of agUiEvents(new Agent({ baseUrl: '/my-proxy', includePartialMessages: true }).query('Hello.'))) show(event);
 */
import { AgUiRun } from './ag-ui-run.js';

/**
 * The events of the messages as they come; the last one is `RUN_FINISHED` or `RUN_ERROR`, also when the messages throw. Leaving the loop
 * stops the run.
 *
 * @param {AsyncIterable<object>} messages of `Agent.query`, `Session.prompt` or `query`
 * @param {{ threadId?: string, runId?: string, parentRunId?: string }} [options] see `AgUiOptions` in `ag-ui.d.ts`
 */
export async function* agUiEvents(messages, options = {}) {
  const run = new AgUiRun(options);
  try {
    for await (const message of messages) yield* run.message(message);
  } catch (error) {
    yield* run.failed(error);
    return;
  }
  yield* run.ended();
}

/**
 * The same as a response of server-sent events, as AG-UI clients read it (`HttpAgent`). When the client goes, the run is stopped.
 *
 * @param {AsyncIterable<object>} messages
 * @param {object} [options]
 */
export function agUiResponse(messages, options) {
  const events = agUiEvents(messages, options);
  const encoder = new TextEncoder();
  const body = new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await events.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      },
      async cancel() {
        // Whoever waits for the next message waits until there is one: the run is stopped first.
        await messages.return?.();
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } });
}
