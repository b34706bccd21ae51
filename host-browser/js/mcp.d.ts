/**
 * MCP servers over HTTP, by the client of `@modelcontextprotocol/sdk`: install it beside windlass (`npm install
 * @modelcontextprotocol/sdk zod`). Whoever does not import this module does not load it.
 */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { McpServer } from './mcp-server.js';

/** How a server is reached; `type`, `url` and `headers` as in the TypeScript Agent SDK. */
export interface McpHttpServerConfig {
  /** Streamable HTTP. */
  type: 'http';
  /** Its address; in a page it may be relative. A server of another origin has to allow the page (CORS). */
  url: string;
  /** Sent with every request. What is here can be read by whoever opens the page: only the visitor's own keys belong here. */
  headers?: Record<string, string>;
  /** Signs in by OAuth; see the SDK. Without one, a server that answers 401 has the status `needs-auth`. */
  authProvider?: OAuthClientProvider;
  /** In place of the platform's `fetch`. */
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** How long it may take until it has listed its tools, in milliseconds; default 30,000. */
  connectTimeoutMs?: number;
}

/**
 * Servers for the option `mcpServers`, by their names, which become part of the names of their tools: `mcp__NAME__TOOL`. Each session
 * connects to them when it begins; one that cannot be reached has the status `failed`, and the session goes on without it. Throws where
 * a configuration cannot be meant.
 */
export function httpServers(servers: Record<string, McpHttpServerConfig>): Record<string, McpServer>;
