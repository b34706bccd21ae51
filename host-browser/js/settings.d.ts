/** Settings and project files of an agent's file tree. */
import type { ModuleSource } from './index.js';

/**
 * Loads what reads them, from somewhere else than beside this module: `windlass/settings.wasm` as the platform or the bundler gives it.
 * Sessions that find settings or project files load it by themselves; all others do without.
 */
export function initSettings(source?: ModuleSource): Promise<void>;

/**
 * A source of settings (Agent SDK reference, `SettingSource`): `user` is `settings.json` in `configDir`, `project` and `local` are
 * `.claude/settings.json` and `.claude/settings.local.json` in `cwd`.
 */
export type SettingSource = 'user' | 'project' | 'local';

/** What an agent reads in its `files` before each of its sessions begins. */
export interface SettingsOptions {
  /**
   * Which sources are read, with what lies beside the settings: `CLAUDE.md`, and `agents`, `commands`, `skills` and `output-styles` below
   * `.claude` and `configDir`. All of them if left out, and none where the agent was given no `files`. What options say goes before
   * what settings say; rules of both hold. Settings that cannot be read, or have a rule that is none, are an error of the session.
   */
  settingSources?: SettingSource[];
  /** Settings over those of the files: an object, its JSON, or the path of a file. */
  settings?: string | Record<string, unknown>;
  /** Settings of an organisation, over all others. */
  managedSettings?: Record<string, unknown>;
  /** The folder in `files` with the settings, `CLAUDE.md`, agents, commands, skills and output styles of the user: absolute; without it there are none. */
  configDir?: string;
  /**
   * Whether what the files of the project allow counts; default no. What they deny or ask about counts in any case, and so do `CLAUDE.md`,
   * skills and agents. `onWarning` is told what does not.
   */
  trustProject?: boolean;
}

// What has no `export` is not to be had from outside.
export {};
