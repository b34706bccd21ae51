/** WASI 0.2 for components whose toolchain needs it, such as those in Python. */

/**
 * Give it to a `Plugin` whose component imports `wasi:…`: `new Plugin(declaration, instantiate, module, grant, { wasi })`. A
 * `WorkerPlugin` has it anyway.
 *
 * Nothing is behind it beyond what the call was granted: the granted directories under their absolute paths, a clock that stands still,
 * random bytes, and the log for what is printed. There are no environment variables, no arguments, no input and no sockets.
 */
export const wasi: WasiHost;

/** What `Plugin` takes as `wasi`. */
export type WasiHost = (call: object) => { interfaces: object; finish: () => void };
