/** Names of tools that the Messages API takes. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,128}$/;
