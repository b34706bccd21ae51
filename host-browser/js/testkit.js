/** For tests of agents: a model that follows a script, and a clock that jumps. */
export { ScriptedModel } from './scripted-model.js';
export { VirtualClock } from './clock.js';
