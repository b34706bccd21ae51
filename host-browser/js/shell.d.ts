/**
 * A shell without an operating system: npm `just-bash` behind the tool name `Bash`, over the files of the agent. Install it beside
 * windlass (`npm install just-bash`). Whoever does not import this module does not load it.
 *
 * Where another bundler than Vite makes a page, `node:zlib` needs an alias: `windlass/no-zlib`.
 */
import type { CommandName, CustomCommand, ExecutionLimits } from 'just-bash/browser';
import type { Tool } from './index.js';

export interface BashToolOptions {
  /** Variables that every command begins with. */
  env?: Record<string, string>;
  /** The commands that there are; all of `just-bash` for browsers if left out. */
  commands?: CommandName[];
  /** Commands of yours (`defineCommand` of `just-bash`), which come before others of the same name. They run with your rights. */
  customCommands?: CustomCommand[];
  /**
   * Limits of one command, as `just-bash` has them; by default 100,000 commands and rounds of a loop, 16 MiB of output and 128 MiB that are
   * in memory at the same time. The time is the model's `timeout`, at most ten minutes.
   */
  limits?: Omit<ExecutionLimits, 'maxExecutionTimeMs'>;
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
