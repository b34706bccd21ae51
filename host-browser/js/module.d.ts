/**
 * A module of WebAssembly that an edge runtime has compiled. Other platforms and bundlers give something else for the same import,
 * most often its address: say there what it is, or use the suffix of the bundler (`windlass/core.wasm?url` in Vite).
 */
declare const module: WebAssembly.Module;
export default module;
