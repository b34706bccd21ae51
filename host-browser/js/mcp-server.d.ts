/** MCP servers as an agent takes them, whatever the transport. */

/**
 * An MCP server that sessions can connect to. `httpServers` of `windlass/mcp` makes them; one of your own can use any other transport.
 */
export interface McpServer {
  /**
   * Connects and lists the tools. Rejects with the reason; an error whose `kind` is `'needs-auth'` says that somebody has to sign in
   * first. A session waits for its servers for a minute before its first prompt.
   */
  connect(context: {
    /** Fires when nobody waits for the connection any more. */
    signal: AbortSignal;
    /** To be told all tools whenever they have changed; the next prompt of the session has them. */
    toolsChanged(tools: McpTool[]): void;
  }): Promise<McpConnection>;
}

/** A connected MCP server. Results and tools are passed on as the server gave them. */
export interface McpConnection {
  /** What the server says of itself. */
  readonly info?: { name?: string; version?: string };
  readonly tools: McpTool[];
  /** Calls a tool; gives its `CallToolResult`. Rejects with the reason, of `kind` `'refused'` when the server refused the call. */
  call(
    tool: string,
    input: Record<string, unknown>,
    context: {
      /** Fires when the call is cancelled or out of time. */
      signal: AbortSignal;
      progress(progress: { progress: number; total?: number; message?: string }): void;
      toolUseID: string;
    },
  ): Promise<McpResult>;
  /** Reads a resource; gives its `ReadResourceResult`. */
  readResource(uri: string, context?: { signal?: AbortSignal }): Promise<McpResult>;
  /** Ends it; what still waits for an answer rejects. */
  close(): void;
}

/** A tool as an MCP server lists it, with every field that it has there. */
export interface McpTool {
  name: string;
  description?: string;
  inputSchema: object;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint?: boolean };
  /** For MCP Apps: `_meta.ui.resourceUri` names the page that shows the tool's results. */
  _meta?: Record<string, unknown>;
  [field: string]: unknown;
}

/** A result of an MCP server, as it is. */
export interface McpResult {
  _meta?: Record<string, unknown>;
  [field: string]: unknown;
}

/** What is known of an MCP server (Agent SDK reference, `McpServerStatus`). */
export interface McpServerStatus {
  name: string;
  /** `needs-auth`: it answered 401. */
  status: 'pending' | 'connected' | 'failed' | 'needs-auth';
  /** What it says of itself, once it is connected. */
  serverInfo?: { name?: string; version?: string };
  /** Why it is not connected. */
  error?: string;
  /** Its tools as it lists them, without those whose names no model can call. */
  tools?: McpTool[];
}
