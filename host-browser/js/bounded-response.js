/** Responses of servers that may send without end. */

/** Bytes of a response that is one answer, and of one event of a stream; as in the native host. */
const MOST_MESSAGE = 16 << 20;

/** Bytes of a response that is the stream of one answer, with everything that is said meanwhile. */
const MOST_STREAM = 4 * MOST_MESSAGE;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * The same response, whose body fails where it is larger than an answer may be.
 *
 * @param {Response} response
 * @param {{ isEndless: boolean, ended: (error?: Error) => void }} options `isEndless`: only its events are limited; `ended` is told
 *   that the body is over, and why if it was not the server's wish
 */
export function bounded(response, { isEndless, ended }) {
  const { body, status, statusText, headers } = response;
  // A response that is no answer, such as a redirect that is not followed, cannot be made again and has no body.
  if (!body || status < 200) return response;
  const isStream = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  const size = new Size(isStream, isEndless);
  const reader = body.getReader();
  const pull = async (controller) => {
    try {
      const { done, value } = await reader.read();
      if (done) {
        controller.close();
        ended();
        return;
      }
      size.add(value);
      controller.enqueue(value);
    } catch (error) {
      controller.error(error);
      ended(error);
      reader.cancel(error).catch(() => {});
    }
  };
  // Nothing ahead of what is read.
  const limited = new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
  return new Response(limited, { status, statusText, headers });
}

/** What was read of a body: all of it, and of the event that is arriving. */
class Size {
  #isStream;
  #isEndless;
  #all = 0;
  #event = 0;
  /** Whether the line that is arriving has nothing in it yet: an empty line ends an event. */
  #isLineEmpty = true;

  constructor(isStream, isEndless) {
    this.#isStream = isStream;
    this.#isEndless = isEndless;
  }

  add(bytes) {
    this.#all += bytes.length;
    if (!this.#isStream) return refuseMore(this.#all, MOST_MESSAGE);
    if (!this.#isEndless) refuseMore(this.#all, MOST_STREAM);
    this.#addToEvent(bytes);
    return refuseMore(this.#event, MOST_MESSAGE);
  }

  #addToEvent(bytes) {
    let start = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] === LINE_FEED) {
        if (this.#isLineEmpty) {
          start = at + 1;
          this.#event = 0;
        }
        this.#isLineEmpty = true;
      } else if (bytes[at] !== CARRIAGE_RETURN) {
        this.#isLineEmpty = false;
      }
    }
    this.#event += bytes.length - start;
  }
}

function refuseMore(size, most) {
  if (size > most) throw new Error(`the answer is longer than ${most >> 20} MiB and was not read`);
}
