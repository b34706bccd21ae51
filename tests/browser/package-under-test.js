/** The npm package as it was built: `$WINDLASS_BROWSER`, else where `cargo xtask wasm` puts it. */
import { fileURLToPath, pathToFileURL } from 'node:url';

export const directory = process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../target/browser', import.meta.url));
export const load = (file) => import(new URL(file, pathToFileURL(`${directory}/`)));

export const windlass = await load('index.js');
export const files = await load('files.js');
export const testkit = await load('testkit.js');
