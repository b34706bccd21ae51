/** The options of an agent by their names: those that there are, and what is said about others. */
import { unknownFields } from './known-fields.js';
import { wrongNames } from './named-tools.js';
import { meant } from './near-name.js';
import { OPTIONS, shown, wrongValues } from './option-values.js';

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
  'CwdChanged', 'InstructionsLoaded', 'Notification', 'PermissionDenied', 'PermissionRequest', 'PostCompact',
  'PostToolBatch', 'PostToolUse', 'PostToolUseFailure', 'PreCompact', 'PreToolUse', 'SessionEnd', 'SessionStart', 'Stop',
  'StopFailure', 'SubagentStart', 'SubagentStop', 'UserPromptExpansion', 'UserPromptSubmit',
];

/** Fields of an agent's definition. */
const AGENT = ['description', 'prompt', 'tools', 'disallowedTools', 'model', 'maxTurns', 'permissionMode'];

/**
 * Whatever is no option, and what is no value of one, is told, all of it at once: what had no effect could be a rule that nobody keeps.
 *
 * @param {object} options those that are `undefined` count as left out
 * @returns {string[]} what a person should know of them
 */
export function checkOptions(options) {
  const faults = given(options).filter((name) => !OPTIONS.includes(name)).map(unusable);
  faults.push(...wrongValues(options));
  for (const [agent, definition] of Object.entries(options.agents ?? {})) {
    faults.push(...unknownFields(`the agent \`${agent}\``, definition, AGENT));
  }
  const events = Object.keys(options.hooks ?? {}).filter((event) => !EVENTS.includes(event));
  faults.push(...events.map((event) => `\`hooks\`: there is no occasion for \`${event}\` here${meant(event, EVENTS)}`));
  const { faults: ofNames, doubts } = wrongNames(options);
  faults.push(...wrongTools(options.tools), ...wrongPlugins(options.plugins), ...ofNames);
  if (options.permissionMode === 'bypassPermissions' && !options.allowDangerouslySkipPermissions) {
    faults.push('the mode `bypassPermissions` needs `allowDangerouslySkipPermissions: true` beside it');
  }
  if (faults.length > 0) throw new Error(`the options of the agent cannot be used: ${faults.join('; ')}`);
  return doubts;
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

/**
 * A prompt, which whoever gives none has probably forgotten.
 *
 * @param {any} prompt
 * @returns {string | object[]}
 */
export function checkedPrompt(prompt) {
  const isList = Array.isArray(prompt) && prompt.length > 0;
  if (typeof prompt === 'string' || (isList && prompt.every((block) => typeof block?.type === 'string'))) return prompt;
  const hint = typeof prompt?.[Symbol.asyncIterator] === 'function' ? ' (`query` takes a stream of prompts)' : '';
  throw new TypeError(`a prompt is a text or a list of content blocks, not ${shown(prompt)}${hint}`);
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
  const others = tools.filter((tool) => typeof tool?.definition !== 'object');
  if (others.length === 0) return [];
  const [other] = others;
  if (isPromise(other)) return ['`tools`: one of them is a promise: await it, and give what it gives'];
  if (isComponent(other)) return [`\`tools\`: the component ${other.name} belongs in \`plugins\``];
  const given = JSON.stringify(other);
  return [`\`tools\` are what \`tool\` makes, not ${given}: the loop's own are named in \`coreTools\`, and \`disallowedTools\` takes tools away`];
}

/** In the TypeScript Agent SDK `plugins` are directories. */
function wrongPlugins(plugins = []) {
  if (isPromise(plugins)) return ['`plugins` is a promise: write `plugins: [await fileTools()]`'];
  if (!Array.isArray(plugins)) return []; // it was told what they are
  const others = plugins.filter((plugin) => !isComponent(plugin));
  return others.map((plugin) => {
    if (isPromise(plugin)) return '`plugins`: one of them is a promise: write `await` before what makes it (`plugins: [await fileTools()]`)';
    if (typeof plugin === 'function') return '`plugins`: one of them is a function: call it (`plugins: [await fileTools()]`)';
    if (typeof plugin?.path === 'string') {
      const instead = 'agents, skills and commands are read from the tree of `files`, and servers of MCP belong in `mcpServers`';
      return `\`plugins\`: ${JSON.stringify(plugin.path)} is a directory, and plugins are components here: ${instead}`;
    }
    if (typeof plugin?.definition === 'object') return `\`plugins\`: the tool ${plugin.definition.name} belongs in \`tools\``;
    return `\`plugins\` are components, such as \`await fileTools()\` and \`new Plugin(…)\`, not ${JSON.stringify(plugin)}`;
  });
}

function isPromise(value) {
  return typeof value?.then === 'function';
}

function isComponent(value) {
  return Array.isArray(value?.tools) && Array.isArray(value?.hooks);
}
