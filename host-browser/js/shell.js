/**
 * A shell without an operating system (`windlass/shell`): npm `just-bash` behind the tool name `Bash`, over the files of the agent.
 * `just-bash` has to be installed beside this package; whoever does not import this module does not load it.
 *
 * @example
 * import { Agent, MemoryFileSystem } from 'windlass';
 * import { bashTool } from 'windlass/shell';
 *
 * const agent = new Agent({
 *   files: new MemoryFileSystem({ files: { '/work/a.txt': 'one\n' } }),
 *   cwd: '/work',
 *   tools: [bashTool()],
 *   allowedTools: ['Bash(grep:*)', 'Bash(ls:*)'],
 * });
 */
import { Bash } from 'just-bash/browser';
import { ShellFiles } from './shell-files.js';
import { shellResult } from './shell-result.js';
import { after, beginning } from './shell-state.js';
import { subshells } from './shell-subshells.js';
import { approvedCommand } from './tool.js';

/** Milliseconds that a command may take when the model says nothing, and when it asks for more. */
const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

/** The shell keeps the limit itself; this is how much longer the agent waits. */
const MARGIN_MS = 30_000;

/** Limits of one command beside the shell's own, which the embedder can change. */
const LIMITS = {
  maxCommandCount: 100_000,
  maxLoopIterations: 100_000,
  maxOutputSize: 16 << 20,
  maxLiveBytes: 128 << 20,
  maxInputBytes: 128 << 20,
};

const DESCRIPTION =
  'Runs a command in a shell without an operating system. It has the usual commands for text and files (`help` lists them) and pipes, ' +
  'redirections, loops and functions, but no network, no other programs (no git, node, python, package managers) and no processes in the ' +
  'background. The first command begins in the working directory, each later one where the last ended; variables last as well. ' +
  'Standard input is empty. Of long output the beginning and the end are shown.';

const SCHEMA = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'The command, as bash reads it.' },
    timeout: {
      type: 'number',
      description: `Milliseconds after which the command is stopped; ${DEFAULT_TIMEOUT_MS} if not given, ${MAX_TIMEOUT_MS} at most.`,
    },
    description: { type: 'string', description: 'What the command does, in five to ten words.' },
  },
  required: ['command'],
  additionalProperties: false,
};

/**
 * The tool `Bash`. A command reaches the files of the agent as far as its call was granted them: the workspace, without what rules
 * close. It has no network and starts nothing. What it runs is what was judged: the model's text only where that was approved whole.
 *
 * @param {{ env?: Record<string, string>, commands?: string[], customCommands?: object[], limits?: object }} [options] see
 *   `BashToolOptions` in `shell.d.ts`
 */
export function bashTool({ env = {}, commands, customCommands, limits = {} } = {}) {
  const definition = {
    name: 'Bash',
    description: DESCRIPTION,
    input_schema: SCHEMA,
    annotations: { destructive: true },
    paths: [],
    command_param: 'command',
    retry: 'never',
    timeout_ms: MAX_TIMEOUT_MS + MARGIN_MS,
  };
  const shell = { env, commands, customCommands, limits: { ...LIMITS, ...limits } };
  return { definition, usesFiles: true, call: (call, context) => run(shell, call, context) };
}

async function run(shell, call, { signal, files, judgedLine }) {
  const line = approvedCommand(call, 'command', judgedLine);
  const view = new ShellFiles(files, call.grant, signal);
  const start = beginning(call);
  await view.begin();
  if (!(await view.isDirectory(start.directory))) return gone(start.directory, call.grant.cwd);
  const timeout = Math.min(call.input.timeout > 0 ? call.input.timeout : DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
  const bash = new Bash({
    fs: view,
    cwd: start.directory,
    env: { HOME: call.grant.cwd, ...shell.env, ...start.variables },
    commands: shell.commands,
    customCommands: shell.customCommands,
    executionLimits: { ...shell.limits, maxExecutionTimeMs: timeout },
    // It would change the globals of the page; what a command reaches is bounded by what it is given.
    defenseInDepth: false,
  });
  bash.registerTransformPlugin(subshells);
  view.seal();
  const before = bash.getEnv();
  const ended = await execute(bash, line, timeout, signal);
  const { shell: state, note } = after(start, before, ended.env, view);
  return { ...shellResult(call.input.command, ended, note), shell: state };
}

/** Runs a line; says how it ended: by itself, `late` or `interrupted`. */
async function execute(bash, line, timeout, signal) {
  const late = AbortSignal.timeout(timeout);
  const ended = await bash.exec(line, { rawScript: true, signal: AbortSignal.any([signal, late]) });
  // The shell looks at the time itself, where nothing else comes to its turn.
  const isLate = late.aborted || /execution deadline/.test(ended.stderr);
  return { ...ended, timeout, how: signal.aborted ? 'interrupted' : isLate && ended.exitCode === 124 ? 'late' : 'ended' };
}

function gone(directory, cwd) {
  const text = `The directory ${directory} is not there any more. Nothing was run. The next command begins in ${cwd}.`;
  return { content: [{ type: 'text', text }], is_error: true, structured: null, observed: [], shell: { directory: cwd, variables: [] } };
}
