/** Tools that options name: what none is called could be a rule that nobody keeps. */
import { meant, nearestTool } from './near-name.js';

/** The tools that the loop can run itself here, and the other name of one. EnterWorktree needs a git repository of the host. */
export const CORE_TOOLS = [
  'TodoWrite', 'AskUserQuestion', 'ExitPlanMode', 'ToolSearch', 'Skill', 'Config', 'Agent', 'Task', 'TaskOutput', 'TaskStop',
];

/**
 * Tools of this engine or the official one (`tool_name::KNOWN` of the core): rules and agents that were written for several programs
 * name them whether or not an agent has them, which is no mistake.
 */
export const KNOWN_TOOLS = [
  'Agent', 'AgentOutput', 'AskUserQuestion', 'Bash', 'BashOutput', 'Brief', 'Config', 'CronCreate', 'CronDelete', 'CronList', 'Edit',
  'EnterPlanMode', 'EnterWorktree', 'ExitPlanMode', 'ExitWorktree', 'Glob', 'Grep', 'KillBash', 'KillShell', 'LS', 'LSP',
  'ListMcpResourcesTool', 'Monitor', 'MultiEdit', 'NotebookEdit', 'NotebookRead', 'PowerShell', 'Read', 'ReadMcpResourceTool',
  'SendMessage', 'Skill', 'SlashCommand', 'StructuredOutput', 'Task', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskOutput', 'TaskStop',
  'TaskUpdate', 'TodoRead', 'TodoWrite', 'ToolSearch', 'WebFetch', 'WebSearch', 'Write',
];

/** What is given by `fileTools` and `bashTool`. */
const FILE_TOOLS = ['Read', 'Write', 'Edit', 'NotebookEdit', 'Glob', 'Grep'];

/**
 * What is wrong with the tools that options name, a sentence each: `faults`, which are errors, and `doubts`, which a person is told.
 * As natively, a rule that takes away is an error where the name is nearly that of a tool: what it should forbid would run.
 *
 * @param {object} options values that they cannot have are passed over
 */
export function wrongNames(options) {
  const own = namesOf(options);
  const rules = (label, list, isStrict) => list.flatMap((rule) => wrongRule(label, rule, own, isStrict));
  const found = [
    ...rules('`allowedTools`', texts(options.allowedTools), false),
    ...rules('`askTools`', texts(options.askTools), true),
    ...rules('`disallowedTools`', texts(options.disallowedTools), true),
    ...records(options.agents).flatMap(([agent, { tools, disallowedTools }]) => [
      ...texts(tools).flatMap((name) => wrongEntry(agent, name, own)),
      ...rules(`\`disallowedTools\` of the agent \`${agent}\``, texts(disallowedTools), true),
    ]),
    ...Object.entries(options.toolAliases ?? {}).flatMap(([name, runs]) => wrongAlias(name, runs, own)),
  ];
  const those = (isFault) => found.filter((it) => it.isFault === isFault).map(({ text }) => text);
  return { faults: [...wrongCoreTools(texts(options.coreTools)), ...those(true)], doubts: those(false) };
}

/** The tools that an agent has from its beginning; those of MCP servers come later. */
function namesOf({ tools, plugins, coreTools }) {
  const list = (value) => (Array.isArray(value) ? value : []);
  const definitions = [...list(tools).map((tool) => tool?.definition), ...list(plugins).flatMap((plugin) => list(plugin?.tools))];
  return [...definitions.flatMap((definition) => texts([definition?.name])), ...texts(coreTools)];
}

function wrongCoreTools(names) {
  return names.filter((name) => !CORE_TOOLS.includes(name)).map((name) => {
    if (FILE_TOOLS.includes(name)) return `\`coreTools\`: ${name} comes with \`plugins: [await fileTools()]\` of windlass/files`;
    if (name === 'Bash') return '`coreTools`: Bash comes with `tools: [bashTool()]` of windlass/shell';
    const hint = meant(name, CORE_TOOLS) || `: there are ${CORE_TOOLS.join(', ')}`;
    return `\`coreTools\`: the loop has no tool ${name} here${hint}`;
  });
}

function wrongRule(label, rule, own, isStrict) {
  const name = toolOf(rule);
  // `mcp__server__` names neither a tool nor the server.
  const server = name.startsWith('mcp__') && name.endsWith('__') ? name.slice(0, -2) : undefined;
  if (server === undefined && isKnown(name, own)) return [];
  const near = server ?? nearestTool(name, [...own, ...KNOWN_TOOLS]);
  const hint = near === undefined ? `, so that the rule ${rule} matches no call` : `: did you mean ${near}?`;
  return [{ isFault: isStrict && near !== undefined, text: `${label}: no tool is named ${name}${hint}` }];
}

/** An agent gets no tool for a name that none has: not what was meant, and nothing that it should not have. */
function wrongEntry(agent, entry, own) {
  if (entry.includes('(')) {
    return [{ isFault: true, text: `\`tools\` of the agent \`${agent}\` takes names of tools, and ${entry} is more than a name` }];
  }
  const name = entry.trim();
  if (name === '*' || name.startsWith('mcp__') || own.includes(name) || CORE_TOOLS.includes(name)) return [];
  const text = `\`tools\` of the agent \`${agent}\`: no tool is named ${name}`;
  if (KNOWN_TOOLS.includes(name)) return [{ isFault: false, text: `${text} here, so that it does without` }];
  const near = nearestTool(name, [...own, ...KNOWN_TOOLS]);
  return [{ isFault: true, text: near === undefined ? text : `${text}: did you mean ${near}?` }];
}

function wrongAlias(name, runs, own) {
  if (typeof runs !== 'string' || runs.startsWith('mcp__') || own.includes(runs) || CORE_TOOLS.includes(runs)) return [];
  const near = nearestTool(runs, own);
  const hint = near === undefined ? '' : `: did you mean ${near}?`;
  return [{ isFault: false, text: `\`toolAliases\`: no tool is named ${runs}, which should run for ${name}${hint}` }];
}

/** Of those of a server nobody knows before it is connected. What is no name of a tool is an error of the core, which says why. */
function isKnown(name, own) {
  return !/^[\w-]+$/.test(name) || name.startsWith('mcp__') || own.includes(name) || KNOWN_TOOLS.includes(name);
}

/** The tool of a rule, `Bash(npm test:*)`. */
function toolOf(rule) {
  return rule.split('(')[0].trim();
}

function texts(list) {
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
}

function records(value) {
  return Object.entries(value ?? {}).filter(([, fields]) => typeof fields === 'object' && fields !== null);
}
