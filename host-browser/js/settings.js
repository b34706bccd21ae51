/** The entry for those who say where the module comes from that reads settings and project files. */
export { initSettings } from './settings-wasm.js';
