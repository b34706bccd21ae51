import type { Clock, FileSystem, ModuleSource, SessionStore } from './index.js';

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

/**
 * Checks whether a store keeps the contract of {@link SessionStore}; gives what is broken, each a sentence.
 *
 * @param place gives a new, empty place for each check; its `store()` opens a store over it, as another tab or process would
 */
export function checkStore(place: () => { store(): SessionStore | Promise<SessionStore> }): Promise<string[]>;

/**
 * Checks whether a file system keeps the contract of {@link FileSystem}, and whether components reach in it what they were granted and
 * nothing else; gives what is broken, each a sentence. It writes up to 20 MB.
 *
 * @param place gives a new, empty place for each check; its `fileSystem()` opens a file system over it, as another tab or process would
 */
export function checkFileSystem(place: () => { fileSystem(): FileSystem | Promise<FileSystem> }): Promise<string[]>;

/**
 * Runs a session with the inputs of a journal, as `windlass --record` writes them on any host, and compares its outputs with the recorded
 * ones, byte for byte. Rejects with the first difference, and its line.
 */
export function replayJournal(journal: string): Promise<{ inputs: number; outputs: number }>;

/** Loads the test kit, where its module comes from somewhere else than the file beside it. */
export function initTestkit(source?: ModuleSource): Promise<void>;
