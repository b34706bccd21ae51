/** The model endpoint: requests of the core over `fetch`. */

/** No answer of a model is larger; what is, is not one. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

/** A failure the core tells apart: `connect`, `interrupted`, `refused` or `too-large`. */
class HttpFailure extends Error {
  constructor(kind, message, options) {
    super(message, options);
    this.kind = kind;
  }
}

export class Endpoint {
  #baseUrl;
  #headers;
  #fetch;

  constructor({ baseUrl = 'https://api.anthropic.com', apiKey, headers = {}, fetch, dangerouslyAllowBrowser = false }) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    // Called as a plain function: some engines refuse a `fetch` that is called as a method.
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#headers = { ...headers };
    if (apiKey) {
      if (isPage() && !dangerouslyAllowBrowser) {
        throw new Error(
          'an API key in a page can be read by everybody who opens it: let a server of yours add the key and give ' +
            'its address as `baseUrl`, or say `dangerouslyAllowBrowser: true` if the key is the visitor\'s own',
        );
      }
      this.#headers['x-api-key'] = apiKey;
      if (isPage()) this.#headers['anthropic-dangerous-direct-browser-access'] = 'true';
    }
  }

  /** Sends a request; resolves when the head of the answer is there. `pairs`: header names and values in turns. */
  async send(path, pairs, body, signal) {
    const headers = new Headers();
    for (let i = 0; i + 1 < pairs.length; i += 2) headers.append(pairs[i], pairs[i + 1]);
    for (const [name, value] of Object.entries(this.#headers)) headers.set(name, value);
    const url = this.#baseUrl + path;
    const request = { method: 'POST', headers, body, signal };
    let response;
    try {
      response = await this.#fetch(url, request);
    } catch (cause) {
      throw new HttpFailure('connect', `cannot reach the model server at ${this.#baseUrl}: ${said(cause)}`, { cause });
    }
    return new Exchange(response);
  }
}

/** An answer that is arriving, as the core reads it. */
class Exchange {
  #reader;
  #received = 0;

  constructor(response) {
    this.status = response.status;
    this.headers = [...response.headers].flat();
    this.#reader = response.body?.getReader();
  }

  /** The next piece, or `undefined` at the end. */
  async read() {
    let piece;
    try {
      piece = await this.#reader?.read();
    } catch (cause) {
      throw new HttpFailure('interrupted', `the model server broke the connection: ${said(cause)}`, { cause });
    }
    if (!piece || piece.done) return undefined;
    this.#received += piece.value.length;
    if (this.#received > LONGEST_ANSWER) {
      await this.#reader.cancel();
      throw new HttpFailure('too-large', `the model server sent more than ${LONGEST_ANSWER} bytes`);
    }
    return piece.value;
  }
}

/** Whether this is a page or a Worker of one, whose every request a visitor can read. */
function isPage() {
  const isWorker = typeof globalThis.importScripts === 'function' && !('Deno' in globalThis);
  return isWorker || globalThis.window?.document !== undefined;
}

function said(cause) {
  return cause instanceof Error ? cause.message : String(cause);
}
