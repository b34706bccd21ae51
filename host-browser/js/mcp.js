/**
 * MCP servers over HTTP (`windlass/mcp`). The client is that of `@modelcontextprotocol/sdk`, which has to be installed beside this
 * package; whoever does not import this module does not load it.
 *
 * @example
 * import { Agent } from 'windlass';
 * import { httpServers } from 'windlass/mcp';
 *
 * const agent = new Agent({
 *   mcpServers: httpServers({ docs: { type: 'http', url: 'https://docs.example.com/mcp' } }),
 *   allowedTools: ['mcp__docs__search'],
 * });
 */
import { HttpConnection } from './mcp-http-connection.js';

/** How long a server may take until it has listed its tools, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

/** What the configuration of a server may say; anything else is a mistake. */
const KEYS = ['type', 'url', 'headers', 'authProvider', 'fetch', 'connectTimeoutMs'];

/**
 * Servers for the option `mcpServers`, by their names. They are connected to when a session begins, once for each session.
 * @param {Record<string, object>} configurations see `McpHttpServerConfig` in `mcp.d.ts`
 */
export function httpServers(configurations) {
  const servers = Object.entries(configurations).map(([name, configuration]) => {
    const checked = check(name, configuration);
    return [name, { connect: (context) => HttpConnection.open(checked, context) }];
  });
  return Object.fromEntries(servers);
}

function check(name, { connectTimeoutMs = CONNECT_TIMEOUT_MS, headers = {}, ...configuration }) {
  const refuse = (what) => {
    throw new Error(`the MCP server ${name} ${what}`);
  };
  for (const key of Object.keys(configuration)) {
    if (!KEYS.includes(key)) refuse(`has a key \`${key}\`; there are ${KEYS.join(', ')}`);
  }
  if (configuration.type !== 'http') {
    refuse(`has the type ${JSON.stringify(configuration.type)}; only "http" (Streamable HTTP) can be reached from here`);
  }
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  let url;
  try {
    url = new URL(configuration.url, base);
  } catch {
    refuse(`has the address ${JSON.stringify(configuration.url)}, which is no URL`);
  }
  if (!['http:', 'https:'].includes(url.protocol)) refuse(`has the address ${url}, which is neither http: nor https:`);
  return { ...configuration, url, headers, connectTimeoutMs };
}
