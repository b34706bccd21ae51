/**
 * A shell without an operating system: npm `just-bash` behind the tool name `Bash`, over the files of the agent. Install it beside
 * windlass (`npm install just-bash`). Whoever does not import this module does not load it.
 *
 * Where another bundler than Vite makes a page, `node:zlib` needs an alias: `windlass/no-zlib`.
 */
import type { Tool } from './index.js';

export interface BashToolOptions {
  /** Variables that every command begins with. */
  env?: Record<string, string>;
  /** The commands that there are, by their names; all of `just-bash` for browsers if left out. */
  commands?: string[];
  /** Commands of yours, which come before others of the same name. They run with your rights. */
  customCommands?: ShellCommand[];
  /** Limits of one command; its time is the model's `timeout`, at most ten minutes. */
  limits?: ShellLimits;
}

/** A command of yours, as `defineCommand` of `just-bash` makes them. */
export interface ShellCommand {
  name: string;
  /** @param context what `just-bash` gives a command: its files, its directory, its input, … */
  execute(args: string[], context: any): Promise<{ stdout: string; stderr: string; exitCode: number }>;
}

/** Limits of one command; there are more, whose names and meanings are those of `ExecutionLimits` in `just-bash`. */
export interface ShellLimits {
  /** Commands that run; default 100,000. */
  maxCommandCount?: number;
  /** Rounds of a loop; default 100,000. */
  maxLoopIterations?: number;
  /** Functions that call each other; default 100. */
  maxCallDepth?: number;
  /** Bytes of output; default 16 MiB, of which the model is shown 30,000 characters. */
  maxOutputSize?: number;
  /** Bytes that are in memory at the same time; default 128 MiB. */
  maxLiveBytes?: number;
  /** Bytes of input, all together; default 128 MiB. */
  maxInputBytes?: number;
  [limit: string]: number | undefined;
}

/**
 * The tool `Bash` for the option `tools`; its input is `command`, `timeout` (milliseconds, default 120,000) and `description`.
 *
 * A command reaches the files of the agent in the workspace (`cwd` and the directories added to it), without what `Read` and `Edit`
 * rules close; outside, and below `/bin`, `/usr/bin`, `/dev` and `/proc`, which are the shell's own, there is nothing of them. There is no
 * network and nothing else that could be started. Rules are those of every other host: a line whose commands were allowed one by one
 * runs as it was read, printed anew, and the text of the model only where all of it was approved.
 */
export function bashTool(options?: BashToolOptions): Tool;
