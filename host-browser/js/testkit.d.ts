import type { Clock } from './index.js';

/** A model that follows a script (docs/scripted-model.md): give its `fetch` to an agent. */
export class ScriptedModel {
  private constructor();
  static load(
    script: string | object,
    options?: { variables?: Record<string, string>; clock?: Clock },
  ): Promise<ScriptedModel>;
  fetch: typeof fetch;
  /** Throws unless the script was followed to its end: no misses, nothing left. */
  verify(): void;
}

/** A clock that stands still as long as anything can go on, and jumps to the next awaited moment when nothing can. */
export class VirtualClock implements Clock {
  mono(): number;
  wall(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  during(work: Promise<unknown>): void;
}
