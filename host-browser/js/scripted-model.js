/** A model that says what a script tells it to say (docs/scripted-model.md). */
import { SystemClock } from './clock.js';
import { ScriptedModel as Model, initTestkit } from './testkit-wasm.js';

/**
 * Stands in for the network: give its `fetch` to an agent.
 *
 * @example
 * const model = await ScriptedModel.load({ exchanges: [{ respond: 'Hello.' }] });
 * const agent = new Agent({ fetch: model.fetch });
 */
export class ScriptedModel {
  #model;
  #clock;

  /** @private */
  constructor(model, clock) {
    this.#model = model;
    this.#clock = clock;
  }

  /**
   * @param {string | object} script
   * @param {{ variables?: Record<string, string>, clock?: object }} [options]
   */
  static async load(script, { variables = {}, clock = new SystemClock() } = {}) {
    await initTestkit();
    const text = typeof script === 'string' ? script : JSON.stringify(script);
    return new ScriptedModel(new Model(text, Object.entries(variables).flat()), clock);
  }

  /** Answers a request as `fetch` would. */
  fetch = async (url, { headers, body, signal } = {}) => {
    const { pathname, search } = new URL(url, 'http://scripted-model.invalid');
    const pieces = this.#model.answer(pathname + search, [...new Headers(headers)].flat(), body ?? new Uint8Array());
    // Waits may come before the head too.
    while (typeof pieces[0] === 'number') await this.#clock.sleep(pieces.shift(), signal);
    if (!Array.isArray(pieces[0])) throw new TypeError('the scripted model broke the connection');
    const [status, ...pairs] = pieces.shift();
    const answerHeaders = new Headers();
    for (let i = 0; i + 1 < pairs.length; i += 2) answerHeaders.append(pairs[i], pairs[i + 1]);
    return new Response(this.#body(pieces, signal), { status, headers: answerHeaders });
  };

  #body(pieces, signal) {
    const clock = this.#clock;
    const source = {
      async pull(controller) {
        let piece = pieces.shift();
        for (; typeof piece === 'number'; piece = pieces.shift()) await clock.sleep(piece, signal);
        if (piece === 'end') controller.close();
        else if (piece === 'cut') controller.error(new TypeError('the scripted model broke the connection'));
        else if (piece === 'hang') await new Promise(() => {});
        else controller.enqueue(piece);
      },
    };
    // Nothing ahead of what is read: waits then lie where they would on a network.
    return new ReadableStream(source, { highWaterMark: 0 });
  }

  /** Throws unless the script was followed to its end: no misses, nothing left. */
  verify() {
    const unmet = this.#model.unmet();
    if (unmet !== undefined) throw new Error(unmet);
  }
}
