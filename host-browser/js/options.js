/** The options of an agent by their names: those that there are, and what is said about others. */
import { OPTIONS, wrongValues } from './option-values.js';

/** Options of the TypeScript Agent SDK that have no meaning here, below the reason. */
export const ELSEWHERE = {
  'no program is started: the engine is part of the package': [
    'env', 'executable', 'executableArgs', 'extraArgs', 'pathToClaudeCodeExecutable', 'spawnClaudeCodeProcess',
  ],
  'there is no standard error: `onWarning` takes what a person should know, `pluginLog` what plugins log': ['debug', 'debugFile', 'stderr'],
  'the settings are those of `files`, below `cwd` and `configDir`': ['projectConfigRoot'],
  'the skills are those of the sources of settings: leave out a source by `settingSources`, or deny a skill by a rule': ['skills'],
  'the only servers of MCP here are those of `mcpServers`, by HTTP': [
    'mcpServersDelivery', 'onElicitation', 'permissionPromptToolName', 'strictMcpConfig',
  ],
  'no commands run that could be confined: a component has what it was granted, and a function is your own': ['sandbox'],
  'versions of files are not kept': ['enableFileCheckpointing'],
  'plugins are components, which are given as they are': ['pluginDelivery'],
  'the store decides itself when it writes, and how long it waits': ['loadTimeoutMs', 'sessionStoreFlush'],
  'every prompt is taken as it is written': ['verbatimPrompts'],
  'sessions are called by `renameSession`': ['title'],
  'no summaries are made of what agents do': ['agentProgressSummaries'],
  'no dialogs are sent: questions are calls of AskUserQuestion, which `canUseTool` answers': [
    'onUserDialog', 'supportedDialogKinds', 'toolConfig',
  ],
  'an interrupt spares what runs in the background': ['perTaskStopAffordance'],
};

/** Those that say which session goes on, which each session can have of its own. */
const OF_A_SESSION = ['continue', 'forkSession', 'resume', 'resumeDropsTurn', 'resumeSessionAt', 'sessionId'];

/** Events at which hooks run. The TypeScript Agent SDK has more, for which there is no occasion here. */
export const EVENTS = [
  'ConfigChange', 'CwdChanged', 'InstructionsLoaded', 'Notification', 'PermissionDenied', 'PermissionRequest', 'PostCompact',
  'PostToolBatch', 'PostToolUse', 'PostToolUseFailure', 'PreCompact', 'PreToolUse', 'SessionEnd', 'SessionStart', 'Stop',
  'StopFailure', 'SubagentStart', 'SubagentStop', 'UserPromptExpansion', 'UserPromptSubmit', 'WorktreeCreate',
];

/** Fields of an agent's definition. */
const AGENT = ['description', 'prompt', 'tools', 'disallowedTools', 'model', 'maxTurns', 'permissionMode'];

/**
 * Whatever is no option, and what is no value of one, is told, all of it at once: what had no effect could be a rule that nobody keeps.
 *
 * @param {object} options those that are `undefined` count as left out
 */
export function checkOptions(options) {
  const faults = given(options).filter((name) => !OPTIONS.includes(name)).map(unusable);
  faults.push(...wrongValues(options));
  for (const [agent, definition] of Object.entries(options.agents ?? {})) {
    const unknown = given(definition ?? {}).filter((name) => !AGENT.includes(name));
    faults.push(...unknown.map((name) => `the agent \`${agent}\` has a field \`${name}\`, which does nothing here${meant(name, AGENT)}`));
  }
  const events = Object.keys(options.hooks ?? {}).filter((event) => !EVENTS.includes(event));
  faults.push(...events.map((event) => `\`hooks\`: there is no occasion for \`${event}\` here${meant(event, EVENTS)}`));
  faults.push(...wrongTools(options.tools));
  if (options.permissionMode === 'bypassPermissions' && !options.allowDangerouslySkipPermissions) {
    faults.push('the mode `bypassPermissions` needs `allowDangerouslySkipPermissions: true` beside it');
  }
  if (faults.length > 0) throw new Error(`the options of the agent cannot be used: ${faults.join('; ')}`);
}

/**
 * The options of a session over those of its agent, which then say nothing about which session goes on.
 *
 * @param {object} ofAgent
 * @param {object} options
 */
export function optionsOfSession(ofAgent, options) {
  const names = given(options);
  const unknown = names.find((name) => !OF_A_SESSION.includes(name));
  if (unknown !== undefined) throw new Error(`a session has no option \`${unknown}\` of its own${meant(unknown, OF_A_SESSION)}`);
  if (names.length === 0) return ofAgent;
  // Of a fixed seed the ids of another session would be made once more.
  const none = Object.fromEntries([...OF_A_SESSION, 'seed'].map((name) => [name, undefined]));
  return { ...ofAgent, ...none, ...options };
}

/** The signal of a prompt, which is all that it can have. */
export function signalOf({ signal, ...others } = {}) {
  const [unknown] = given(others);
  if (unknown !== undefined) throw new Error(`a prompt has no option \`${unknown}\`, only \`signal\``);
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw new Error('`signal` is no AbortSignal: give the `signal` of an AbortController');
  }
  return signal;
}

function given(options) {
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function unusable(name) {
  if (name === 'abortController') return '`abortController` belongs to one `query`: an agent takes a `signal` with each prompt';
  const [reason] = Object.entries(ELSEWHERE).find(([, names]) => names.includes(name)) ?? [];
  return reason ? `\`${name}\` has no meaning here: ${reason}` : `there is no option \`${name}\`${meant(name, OPTIONS)}`;
}

/** In the TypeScript Agent SDK `tools` are names. */
function wrongTools(tools = []) {
  if (!Array.isArray(tools)) return []; // it was told what they are
  const names = tools.filter((tool) => typeof tool?.definition !== 'object');
  if (names.length === 0) return [];
  const given = JSON.stringify(names[0]);
  return [`\`tools\` are what \`tool\` makes, not ${given}: the loop's own are named in \`coreTools\`, and \`disallowedTools\` takes tools away`];
}

/** `: did you mean …?`, if a name is near enough. */
function meant(name, names) {
  const plain = (text) => text.toLowerCase().replace(/[^a-z]/g, '');
  const near = names.map((known) => [distance(plain(name), plain(known)), known]).sort(([a], [b]) => a - b);
  const [apart, known] = near[0];
  return apart <= Math.min(3, name.length / 3) ? `: did you mean \`${known}\`?` : '';
}

/** How many characters have to be added, left out or replaced. */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, character] of [...from].entries()) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = row[column] + (to[column] === character ? 0 : 1);
      next.push(Math.min(replaced, row[column + 1] + 1, next[column] + 1));
    }
    row = next;
  }
  return row[to.length];
}
