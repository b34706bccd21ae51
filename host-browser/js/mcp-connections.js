/** The MCP servers of a session: what the engine asks of them, by the numbers of connections. */
import { TOOL_NAME } from './tool-name.js';

/** Milliseconds between two reports of how far a call has come. */
const BETWEEN_REPORTS_MS = 100;

/** The beginning of the names of a server's tools, as the core makes them. */
const prefix = (server) => `mcp__${server.replace(/[^A-Za-z0-9_-]/gu, '_')}__`;

/**
 * The option `mcpServers`.
 * @param {Record<string, { connect: Function }>} servers
 */
export function checkedServers(servers = {}) {
  const prefixes = new Map();
  for (const [name, server] of Object.entries(servers)) {
    if (typeof server?.connect !== 'function') {
      const made = `httpServers({ ${JSON.stringify(name)}: { type: 'http', url: … } })`;
      throw new Error(`mcpServers: ${name} cannot be connected to: make it by \`${made}\` of windlass/mcp`);
    }
    const other = prefixes.get(prefix(name));
    if (other !== undefined) throw new Error(`mcpServers: the tools of ${other} and ${name} would have the same names`);
    prefixes.set(prefix(name), name);
  }
  return servers;
}

export class McpConnections {
  #servers;
  #clock;
  #events;
  /** By number: `{ name, opening, connection, tools }`. */
  #open = new Map();
  /** What is known of each server, by its name, and the number of its last connection. */
  #states = new Map();
  #last = new Map();
  /** Those who wait until a server is connected anew: `{ name, resolve, reject }`. */
  #waiting = [];

  /**
   * @param {Record<string, { connect: Function }>} servers
   * @param {object} clock
   * @param {{ toolsChanged: (number: number, name: string, tools: string) => void, warn: (text: string) => void }} events
   */
  constructor(servers, clock, events) {
    this.#servers = servers;
    this.#clock = clock;
    this.#events = events;
    for (const name of Object.keys(servers)) this.#states.set(name, { name, status: 'pending' });
  }

  /** Connects to a server under a number; gives what it offers as JSON. */
  async connect(number, name) {
    const opening = new AbortController();
    const opened = { name, opening, connection: undefined, tools: [] };
    this.#open.set(number, opened);
    this.#last.set(name, number);
    this.#states.set(name, { name, status: 'pending' });
    const toolsChanged = (tools) => {
      // Its first tools are what it offers; of a connection that was closed nobody wants to know.
      if (!opened.connection || this.#open.get(number) !== opened) return;
      this.#events.toolsChanged(number, name, JSON.stringify(this.#keep(opened, tools)));
    };
    try {
      const connecting = this.#servers[name].connect({ signal: opening.signal, toolsChanged });
      this.#clock.during?.(connecting);
      const connection = await connecting;
      if (opening.signal.aborted) {
        connection.close();
        throw opening.signal.reason;
      }
      opened.connection = connection;
      const tools = this.#keep(opened, connection.tools);
      this.#settle(name, ({ resolve }) => resolve());
      return JSON.stringify({ info: connection.info, tools });
    } catch (error) {
      // One that another connection has taken the place of says nothing any more.
      if (this.#last.get(name) === number) {
        const status = error?.kind === 'needs-auth' ? 'needs-auth' : 'failed';
        this.#states.set(name, { name, status, error: String(error?.message ?? error) });
        this.#settle(name, ({ reject }) => reject(error));
      }
      throw error;
    }
  }

  /**
   * Resolves when a server is connected anew, rejects when it is not.
   * @param {string} name
   * @param {() => void} ask tells the engine
   */
  reconnected(name, ask) {
    if (!this.#states.has(name)) return Promise.reject(unknown(name));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ name, resolve, reject });
      ask();
    });
  }

  /** The session is over. */
  over(error) {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #settle(server, tell) {
    const all = this.#waiting.splice(0);
    for (const waiting of all) {
      if (waiting.name === server) tell(waiting);
      else this.#waiting.push(waiting);
    }
  }

  /** Calls a tool; gives its result as JSON. */
  async call(number, tool, { input, tool_use_id: toolUseID }, { signal, progress }) {
    const { name, connection, tools } = this.#open.get(number) ?? {};
    if (!connection) throw new Error('The MCP server is not connected.');
    const report = this.#reporter(progress);
    try {
      const result = await connection.call(tool, input, { signal, progress: report, toolUseID });
      const listed = tools.find((known) => known.name === tool);
      // Whoever shows the interface that a tool has (MCP Apps) needs the result as the server gave it.
      const isForPrograms = result._meta !== undefined || listed?._meta !== undefined;
      return JSON.stringify({ result, isForPrograms });
    } catch (error) {
      const how = error?.kind === 'refused' ? 'refused the call' : 'failed';
      throw new Error(`The MCP server ${name} ${how}: ${error?.message ?? error}`, { cause: error });
    }
  }

  /** Closes a connection, even while it is being made. */
  disconnect(number) {
    const opened = this.#open.get(number);
    if (!opened) return;
    this.#open.delete(number);
    opened.opening.abort(new Error('it did not answer in time'));
    opened.connection?.close();
  }

  /** What is known of the servers, each as `mcpServerStatus` of a session says it. */
  status() {
    return [...this.#states.values()].map((state) => ({ ...state }));
  }

  /** Reads a resource; gives the server's answer as it is. */
  async readResource(name, uri, options) {
    if (!this.#states.has(name)) throw unknown(name);
    const opened = [...this.#open.values()].find((it) => it.name === name && it.connection);
    if (!opened) throw new Error(`the MCP server ${name} is not connected: it is ${this.#states.get(name).status}`);
    return opened.connection.readResource(uri, options);
  }

  /** The tools of a server that a model can be offered; remembers all of them as they were listed. */
  #keep(opened, tools) {
    const { name, connection } = opened;
    const usable = tools.filter((tool) => typeof tool?.name === 'string' && TOOL_NAME.test(prefix(name) + tool.name));
    if (usable.length < tools.length) {
      const others = tools.filter((tool) => !usable.includes(tool)).map((tool) => tool?.name);
      const rule = `letters, digits, _ and -, with ${prefix(name)} at most 128`;
      this.#events.warn(`the MCP server ${name} has tools that no model can call, because of their names (${rule}): ${shown(others)}`);
    }
    opened.tools = usable;
    this.#states.set(name, { name, status: 'connected', serverInfo: connection.info, tools: usable });
    return usable.map(({ name, description, inputSchema, annotations }) => ({ name, description, inputSchema, annotations }));
  }

  /** Says how far a call has come, and not more often than somebody can read. */
  #reporter(progress) {
    let last = -Infinity;
    return ({ progress: done, total, message }) => {
      const now = this.#clock.mono();
      if (now - last < BETWEEN_REPORTS_MS) return;
      last = now;
      progress(message ?? (total === undefined ? `${done}` : `${done} of ${total}`));
    };
  }
}

function unknown(name) {
  return new Error(`there is no MCP server ${name}`);
}

/** Names that a server gave, as far as they can be shown. */
function shown(names) {
  return names.slice(0, 10).map((name) => JSON.stringify(name)?.slice(0, 100)).join(', ');
}
