/**
 * MCP servers that the person has added. Their addresses are kept by the page; what a header says is, as the key, in memory only, is sent
 * to the server's address and nowhere else, and is gone with the tab.
 */
import { Changing } from './changes.js';

const STORED = 'windlass-demo-servers';

/** The name becomes part of the names of its tools. */
const NAME = /^[A-Za-z0-9-]{1,40}$/;

export class Servers extends Changing {
  /**
   * `{ name, url, header?, value?, status, error?, info?, tools? }`: `header` and `value` of the header that is sent, `status` as
   * `McpServerStatus` has it, or `needs-header` where the value is gone with an earlier tab.
   */
  all = stored().map((server) => ({ ...server, status: server.header ? 'needs-header' : 'pending' }));

  #settings;

  /** @param {import('./settings.js').Settings} settings */
  constructor(settings) {
    super();
    this.#settings = settings;
  }

  /** What an agent depends on. */
  get fingerprint() {
    return JSON.stringify(this.all.map(({ name, url, header, value }) => [name, url, header, value]));
  }

  /** Adds a server, and looks whether it answers. Throws where it cannot be meant. */
  add({ name, url, header, value }) {
    const server = { name, url: checkedUrl(url), status: 'pending' };
    if (!NAME.test(name)) throw new Error('The name is made of letters, digits and hyphens, 40 at most: its tools begin with it.');
    const isTaken = this.all.some((other) => other.name.toLowerCase() === name.toLowerCase());
    if (isTaken) throw new Error(`There is a server ${name} already.`);
    if (header || value) Object.assign(server, checkedHeader(server.url, header, value));
    this.all = [...this.all, server];
    this.#keep();
    return this.check(server);
  }

  /** Gives the value of a header again. */
  authorize(server, value) {
    Object.assign(server, checkedHeader(server.url, server.header, value), { status: 'pending' });
    return this.check(server);
  }

  remove(server) {
    this.all = this.all.filter((other) => other !== server);
    this.#settings.forgetServer(server.name);
    this.#keep();
  }

  /** Connects to a server for as long as it takes to list its tools: what comes of it is in its status. */
  async check(server) {
    const over = new AbortController();
    try {
      const { connect } = await this.#watched(server);
      (await connect({ signal: over.signal, toolsChanged: () => {} })).close();
    } catch {
      // Its status says why.
    }
  }

  /** The option `mcpServers` of an agent: those that can be connected to. */
  async forAgent() {
    const ready = this.all.filter(({ status }) => status !== 'needs-header');
    return Object.fromEntries(await Promise.all(ready.map(async (server) => [server.name, await this.#watched(server)])));
  }

  /** A server whose connections are told here. */
  async #watched(server) {
    // The client is loaded by those who have a server.
    const { httpServers } = await import('windlass/mcp');
    const { name, url, header, value } = server;
    const headers = header ? { [header]: value } : {};
    const { [name]: made } = httpServers({ [name]: { type: 'http', url, headers, fetch: withoutDetours } });
    return { connect: (context) => this.#connect(server, made, context) };
  }

  async #connect(server, made, { signal, toolsChanged }) {
    const tell = (news) => {
      Object.assign(server, news);
      this.changed();
    };
    tell({ status: 'pending', error: undefined });
    try {
      const listed = (tools) => {
        tell({ tools });
        toolsChanged(tools);
      };
      const connection = await made.connect({ signal, toolsChanged: listed });
      tell({ status: 'connected', info: connection.info, tools: connection.tools });
      return connection;
    } catch (error) {
      if (!signal.aborted) tell({ ...failure(server, error), tools: undefined });
      throw error;
    }
  }

  #keep() {
    try {
      localStorage.setItem(STORED, JSON.stringify(this.all.map(({ name, url, header }) => ({ name, url, header }))));
    } catch {
      // They last as long as the tab then.
    }
    this.changed();
  }
}

/** A request that goes to its address and nowhere else, with its header and nothing else that the browser knows. */
async function withoutDetours(url, init) {
  const answer = await fetch(url, { ...init, redirect: 'manual', credentials: 'omit', referrerPolicy: 'no-referrer' });
  if (answer.type !== 'opaqueredirect') return answer;
  throw new Error(`${url} leads to another address, which is not followed: say the address that it leads to`);
}

/** What a person reads of a server that is not connected. */
function failure({ url, header }, error) {
  if (error.kind !== 'needs-auth') return { status: 'failed', error: error.message };
  const what = header ? `what the header ${header} says does not do` : 'remove it, and add it again with the header that it wants';
  return { status: 'needs-auth', error: `${new URL(url).origin} lets nobody in without authorization (401): ${what}.` };
}

function checkedUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('The address of a server begins with https:// or http://.');
  if (url.username || url.password) throw new Error('An address has no name and password: say a header.');
  return url.href;
}

function checkedHeader(url, header, value) {
  if (!header || !value) throw new Error('A header has a name and a value.');
  const { protocol, hostname } = new URL(url);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  if (protocol !== 'https:' && !isHere) {
    throw new Error('What a header says is sent by https, or to this machine: everybody on the way reads it by http.');
  }
  let request;
  try {
    request = new Request(url, { headers: { [header]: value } });
  } catch {
    throw new Error(`${header} with this value cannot be a header.`);
  }
  if (!request.headers.has(header)) throw new Error(`Browsers do not let pages send the header ${header}.`);
  return { header, value };
}

/** What is kept, as far as it is what it should be. */
function stored() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return kept.filter(({ name, url, header }) => NAME.test(name) && URL.canParse(url) && (header === undefined || typeof header === 'string'));
  } catch {
    return [];
  }
}
