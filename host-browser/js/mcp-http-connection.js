/** A connection to an MCP server over HTTP: what a session asks of it, and nothing that it does on its own. */
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { HttpLink } from './mcp-http-link.js';

/** Pages of a list, and its entries, as in the native host; a server that has more is treated as faulty. */
const MOST_PAGES = 1_000;
const MOST_TOOLS = 10_000;

/** Milliseconds between two listings, however often a server says that its tools have changed. */
const BETWEEN_LISTS_MS = 1_000;

/** Characters that are repeated of what a server says is wrong. */
const MOST_SAID = 500;

/** An error with the reason, in words for the model and for people; its `kind` tells apart `needs-auth` and `refused`. */
class McpFailure extends Error {
  constructor(message, { kind, cause } = {}) {
    super(message, { cause });
    this.kind = kind;
  }
}

export class HttpConnection {
  #configuration;
  #toolsChanged;
  #link;
  #opening;
  #closed = new AbortController();
  /** What the server says of itself: `{ name, version }`. */
  info;
  /** Its tools, as it listed them first. */
  tools;

  /** @private */
  constructor(configuration, toolsChanged) {
    this.#configuration = configuration;
    this.#toolsChanged = toolsChanged;
  }

  /**
   * Connects and lists the tools.
   * @param {object} configuration checked
   * @param {{ signal: AbortSignal, toolsChanged: (tools: object[]) => void }} context
   */
  static async open(configuration, { signal, toolsChanged }) {
    const connection = new HttpConnection(configuration, toolsChanged);
    const { connectTimeoutMs } = configuration;
    const late = AbortSignal.timeout(connectTimeoutMs);
    try {
      await connection.#open(AbortSignal.any([signal, late]));
      return connection;
    } catch (error) {
      connection.close();
      if (late.aborted && !signal.aborted) throw new McpFailure(`no answer within ${connectTimeoutMs} ms`);
      throw connection.#failure(error);
    }
  }

  /** Calls a tool; gives the server's result as it is. */
  call(name, input, { signal, progress, toolUseID }) {
    const params = { name, arguments: input, _meta: { 'claudecode/toolUseId': toolUseID } };
    return this.#request({ method: 'tools/call', params }, { signal, progress });
  }

  /** Reads a resource; gives the server's answer as it is. */
  readResource(uri, { signal } = {}) {
    return this.#request({ method: 'resources/read', params: { uri } }, { signal });
  }

  /** Ends the connection; what still waits for an answer fails. */
  close() {
    this.#closed.abort(new Error('the connection was closed'));
    this.#link?.close();
  }

  async #open(signal) {
    this.#closed.signal.throwIfAborted();
    const link = new HttpLink(this.#configuration, () => this.#listAgain());
    this.#link = link;
    await link.connect(signal);
    this.tools = await list(link, signal);
    const { name, version } = link.info ?? {};
    this.info = { name, version };
  }

  async #request(request, options) {
    try {
      return await this.#link.request(request, options);
    } catch (error) {
      // The server no longer knows the session, so it has not done anything: the protocol asks for a new one.
      if (!isUnknownSession(error) || this.#closed.signal.aborted) throw this.#failure(error);
    }
    try {
      await this.#openAgain();
      return await this.#link.request(request, options);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Connects anew; once for all calls that found their session gone. */
  #openAgain() {
    this.#opening ??= (async () => {
      const limit = AbortSignal.timeout(this.#configuration.connectTimeoutMs);
      this.#link.close();
      await this.#open(AbortSignal.any([this.#closed.signal, limit]));
      this.#toolsChanged(this.tools);
    })().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  #isStale = false;
  #listing;

  /** The tools have changed. A list that fails leaves those that were known. */
  #listAgain() {
    this.#isStale = true;
    this.#listing ??= (async () => {
      while (this.#isStale && !this.#closed.signal.aborted) {
        this.#isStale = false;
        const limit = AbortSignal.timeout(this.#configuration.connectTimeoutMs);
        const listed = await list(this.#link, AbortSignal.any([this.#closed.signal, limit])).catch(() => undefined);
        if (listed) this.#toolsChanged(listed);
        await pause(BETWEEN_LISTS_MS, this.#closed.signal);
      }
    })().finally(() => {
      this.#listing = undefined;
    });
  }

  #failure(error) {
    const { url } = this.#configuration;
    if (error instanceof McpFailure) return error;
    const failed = (message, kind) => new McpFailure(message, { kind, cause: error });
    if (error instanceof UnauthorizedError || (error instanceof StreamableHTTPError && error.code === 401)) {
      return failed(`${url.origin} lets nobody in without authorization (401): say \`headers\`, or an \`authProvider\``, 'needs-auth');
    }
    if (error instanceof StreamableHTTPError) {
      const status = error.code > 0 ? ` (${error.code})` : '';
      return failed(`${url} does not speak the Model Context Protocol as it should${status}: ${said(error)}`);
    }
    if (error instanceof McpError && ![ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout].includes(error.code)) {
      return failed(said(error), 'refused');
    }
    if (error?.name === 'ZodError') return failed(`what ${url} answered is no message of the protocol`);
    if (error instanceof TypeError) {
      const inPage = globalThis.document ? '; its server has to allow this page (CORS), and expose the header Mcp-Session-Id' : '';
      return failed(`cannot reach ${url}: ${said(error)}${inPage}`);
    }
    return failed(said(error));
  }
}

/** Lists all tools; those of a server that never comes to an end are refused. */
async function list(link, signal) {
  const tools = [];
  const cursors = new Set();
  let cursor;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await link.request({ method: 'tools/list', params }, { signal });
    if (!Array.isArray(page.tools)) throw new McpFailure('tools/list: the answer has no list `tools`');
    for (const tool of page.tools) tools.push(tool);
    if (tools.length > MOST_TOOLS) throw new McpFailure(`tools/list: the list has more than ${MOST_TOOLS} entries`);
    cursor = page.nextCursor || undefined;
    if (cursors.has(cursor)) throw new McpFailure('tools/list: the list goes in a circle: the same `nextCursor` came twice');
    cursors.add(cursor);
    if (cursors.size >= MOST_PAGES) throw new McpFailure(`tools/list: the list has more than ${MOST_PAGES} pages`);
  } while (cursor !== undefined);
  return tools;
}

/** By the protocol a server answers 404 to a session that it does not know any more. */
function isUnknownSession(error) {
  return error instanceof StreamableHTTPError && error.code === 404;
}

/** What an error says, on one line. */
function said(error) {
  const text = String(error?.message ?? error).replace(/^MCP error -?\d+: /, '');
  return text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, MOST_SAID);
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
}
