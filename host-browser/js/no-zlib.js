/**
 * Stands in for `node:zlib` in pages (`windlass/no-zlib`): `just-bash`, which `windlass/shell` uses, imports it whether or not a command
 * compresses something. Vite sees to that itself; for other bundlers name this as the alias of `node:zlib`.
 */
function missing() {
  throw new Error('gzip, gunzip and zcat are not there in a page');
}

export const constants = {};
export const gunzipSync = missing;
export const gzipSync = missing;
