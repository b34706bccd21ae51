// Requests to the origins that the plugin declares (`grants.http`) and was granted, and keys that the host adds to them.

import { send as sendPlain } from "windlass:host/http@0.1.0";
import { available, send as sendWithSecrets } from "windlass:host/secrets@0.1.0";

import { decode, encode } from "./windlass-text.js";

/** How much of an answer is asked of the host at once, in bytes. */
const PIECE = 64 << 10;

/** The most bytes of an answer that are taken if the plugin does not say. */
const LIMIT = 1 << 20;

/** A request without an answer: `kind` is that of the host, the message is for the model. */
export class HttpError extends Error {
  constructor(kind, reason) {
    super(`The request failed: ${reason}.`);
    this.name = "HttpError";
    this.kind = kind;
  }
}

/** An answer, whatever its status. The host follows no redirect. */
export class Response {
  #body;

  constructor({ status, headers, body }) {
    this.status = status;
    /** Pairs of name and value, in the order of the answer. */
    this.headers = headers.map(({ name, value }) => [name, value]);
    this.#body = body;
  }

  /** The first header of this name, in whatever letters. */
  header(name) {
    return this.headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];
  }

  /** The body, which can be read once. Throws if it has more than `limit` bytes. */
  bytes(limit = LIMIT) {
    const pieces = [];
    let size = 0;
    for (;;) {
      const piece = answered(() => this.#body.read(PIECE));
      if (piece.length === 0) break;
      size += piece.length;
      if (size > limit) throw new HttpError("too-large", `the answer has more than ${limit} bytes`);
      pieces.push(piece);
    }
    const whole = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  /** The body as text; what is not UTF-8 becomes U+FFFD. */
  text(limit) {
    return decode(this.bytes(limit));
  }

  /** The body read as JSON. */
  json(limit) {
    try {
      return JSON.parse(this.text(limit));
    } catch (error) {
      if (error instanceof SyntaxError) throw new Error(`The answer is not JSON: ${error.message}.`);
      throw error;
    }
  }
}

export const http = {
  /** Sends a request and waits for the answer. */
  send: (request) => new Response(answered(() => sendPlain(lowered(request)))),
  /** Sends a `GET` request. */
  get: (url, options) => http.send({ url, headers: options?.headers }),
  /** Sends a `POST` request with a JSON body. */
  postJson: (url, value, options) => http.send({ method: "POST", url, headers: options?.headers, json: value }),
};

export const secrets = {
  /** Whether a secret can be used: it is declared, granted and there. */
  available: (name) => available(name),
  /** The header `authorization: Bearer …`. */
  bearer: (secret) => ({ ...secrets.header("authorization", secret), prefix: "Bearer " }),
  /** The header `authorization: Basic …` with this user's name; the secret is the password. */
  basic: (user, secret) => ({ ...secrets.header("authorization", secret), prefix: "Basic ", user }),
  /** A header whose value is the secret alone. */
  header: (header, secret) => ({ header, secret, prefix: "", user: null }),
  /** Sends a request with secrets, to an origin that each is meant for. */
  send: (request, ...headers) => new Response(answered(() => sendWithSecrets(lowered(request), headers.flat()))),
};

/** A request as the host takes it. */
function lowered({ method = "GET", url, headers = [], body, json }) {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  const own = pairs.map(([name, value]) => ({ name, value: String(value) }));
  if (json !== undefined) {
    own.push({ name: "content-type", value: "application/json" });
    body = JSON.stringify(json);
  }
  const bytes = typeof body === "string" ? encode(body) : body;
  return { method, url: String(url), headers: own, body: bytes === undefined ? [] : [bytes] };
}

/** What the host answers, or throws as one of these errors: how a failure of the host looks depends on the toolchain. */
function answered(ask) {
  try {
    return ask();
  } catch (error) {
    const failure = error?.payload ?? error;
    if (typeof failure?.tag === "string") throw new HttpError(failure.tag, failure.val);
    throw error;
  }
}
