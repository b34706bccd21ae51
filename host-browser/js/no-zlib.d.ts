/** Stands in for `node:zlib` where a page is bundled with `windlass/shell`; every call throws. */
export const constants: Record<string, never>;
export function gunzipSync(...given: unknown[]): never;
export function gzipSync(...given: unknown[]): never;
