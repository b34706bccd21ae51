/** For tests of agents: a model that follows a script, a clock that jumps, journals run once more, and the contracts of stores and file systems as checks. */
export { checkFileSystem } from './check-file-system.js';
export { checkStore } from './check-store.js';
export { replayJournal } from './replay-journal.js';
export { ScriptedModel } from './scripted-model.js';
export { VirtualClock } from './clock.js';
export { initTestkit } from './testkit-wasm.js';
