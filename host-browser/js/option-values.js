/** What the values of options have to be: a wrong one could be a rule or a limit that nobody keeps. */
import { unknownFields } from './known-fields.js';

/** @typedef {{ fits: (value: any) => boolean, words: string }} Kind */

const kind = (words, fits) => ({ words, fits });
const isText = (value) => typeof value === 'string';
const isRecord = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole = (least) => (value) => Number.isSafeInteger(value) && value >= least;
const has = (...methods) => (value) => methods.every((method) => typeof value?.[method] === 'function');

const TEXT = kind('a text that is not empty', (value) => isText(value) && value !== '');
const TEXTS = kind('a list of texts', (value) => Array.isArray(value) && value.every(isText));
const SWITCH = kind('true or false', (value) => typeof value === 'boolean');
const CALLBACK = kind('a function', (value) => typeof value === 'function');
const RECORD = kind('an object', isRecord);
const RECORD_OF_TEXTS = kind('an object whose values are texts', (value) => isRecord(value) && Object.values(value).every(isText));
const COUNT = kind('a whole number from 1 on', isWhole(1));
const COUNT_OR_NONE = kind('a whole number from 0 on', isWhole(0));
const DURATION = kind('a number of milliseconds above 0', (value) => Number.isFinite(value) && value > 0);
const PLACE = kind('an absolute path', (value) => isText(value) && value.startsWith('/'));
const PLACES = kind('a list of absolute paths', (value) => Array.isArray(value) && value.every(PLACE.fits));
const LIST = kind('a list', Array.isArray);
const oneOf = (...values) => kind(`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`, (value) => values.includes(value));

const SOURCE = oneOf('user', 'project', 'local');

/** What each option has to be. @type {Record<string, Kind>} */
const KINDS = {
  additionalDirectories: PLACES,
  agent: TEXT,
  agents: kind('an object whose values are definitions of agents', (value) => isRecord(value) && Object.values(value).every(isRecord)),
  allowDangerouslySkipPermissions: SWITCH,
  allowedTools: TEXTS,
  apiKey: kind('a text', isText),
  askTools: TEXTS,
  baseUrl: TEXT,
  betas: TEXTS,
  canUseTool: CALLBACK,
  clock: kind('an object with the functions `mono`, `wall` and `sleep`', has('mono', 'wall', 'sleep')),
  configDir: PLACE,
  continue: SWITCH,
  coreTools: TEXTS,
  cwd: PLACE,
  dangerouslyAllowBrowser: SWITCH,
  disallowedTools: TEXTS,
  effort: oneOf('low', 'medium', 'high', 'xhigh', 'max'),
  environment: RECORD,
  fallbackModel: TEXT,
  fetch: CALLBACK,
  files: kind('a FileSystem: an object with the functions `stat`, `list`, `read` and `change`', has('stat', 'list', 'read', 'change')),
  forkSession: SWITCH,
  forwardSubagentText: SWITCH,
  freeWorkspaceReads: SWITCH,
  headers: RECORD_OF_TEXTS,
  hooks: kind('an object with a list of matchers for each event', (value) => isRecord(value) && Object.values(value).every(Array.isArray)),
  includeHookEvents: SWITCH,
  includePartialMessages: SWITCH,
  keepUnfinishedTurns: SWITCH,
  managedSettings: RECORD,
  maxBudgetUsd: kind('a number of US dollars from 0 on', (value) => Number.isFinite(value) && value >= 0),
  maxThinkingTokens: COUNT_OR_NONE,
  maxTokens: COUNT,
  maxTurns: COUNT,
  mcpServers: RECORD,
  model: TEXT,
  onAllowed: CALLBACK,
  onWarning: CALLBACK,
  outputFormat: RECORD,
  permissionMode: oneOf('default', 'acceptEdits', 'auto', 'plan', 'dontAsk', 'bypassPermissions'),
  permissionPrompts: oneOf('host', 'none'),
  persistSession: SWITCH,
  planModeInstructions: TEXT,
  pluginFetch: CALLBACK,
  pluginLog: CALLBACK,
  pluginSecret: CALLBACK,
  pluginState: kind('an object with the functions `load` and `change`', has('load', 'change')),
  plugins: LIST,
  prices: RECORD,
  progressIntervalMs: COUNT_OR_NONE,
  promptSuggestions: SWITCH,
  resume: TEXT,
  resumeDropsTurn: TEXT,
  resumeSessionAt: TEXT,
  responseLimits: kind('an object whose values are whole numbers from 0 on', (value) => isRecord(value) && Object.values(value).every((each) => each === undefined || COUNT_OR_NONE.fits(each))),
  retry: kind('an object whose values are whole numbers from 0 on, or true or false', isRetry),
  seed: kind('a Uint8Array of 32 bytes', (value) => value instanceof Uint8Array && value.length === 32),
  sessionId: TEXT,
  sessionStore: kind('a SessionStore, such as `new MemorySessionStore()`', has('create', 'open', 'append', 'load', 'list')),
  settings: kind('an object, its JSON, or the path of a file', (value) => isRecord(value) || TEXT.fits(value)),
  settingSources: kind('a list of "user", "project" and "local"', (value) => Array.isArray(value) && value.every(SOURCE.fits)),
  stream: SWITCH,
  systemPrompt: kind('a text, a list of texts, or an object with a `type`', (value) => isText(value) || TEXTS.fits(value) || isText(value?.type)),
  taskBudget: kind('an object with a whole number `total`', (value) => isWhole(1)(value?.total)),
  thinking: oneOfTypes('adaptive', 'enabled', 'disabled'),
  toolAliases: RECORD_OF_TEXTS,
  tools: kind('a list of what `tool` makes', Array.isArray),
  toolTimeoutMs: DURATION,
  trustProject: SWITCH,
};

/** The fields that options have which are objects. */
const FIELDS = {
  outputFormat: ['type', 'schema'],
  responseLimits: ['idleMs', 'totalMs', 'maxBytes'],
  retry: ['maxRetries', 'baseMs', 'maxMs', 'jitterPercent', 'onlyRateLimits', 'honourRetryAfter'],
  systemPrompt: ['type', 'preset', 'append', 'excludeDynamicSections', 'prompt'],
  taskBudget: ['total'],
  thinking: ['type', 'budgetTokens', 'display'],
};

/** Fields of a matcher of hooks. */
const MATCHER = ['matcher', 'hooks', 'timeout'];

function isRetry(value) {
  if (!isRecord(value)) return false;
  const { onlyRateLimits, honourRetryAfter, maxRetries, baseMs, maxMs, jitterPercent } = value; // what else it has is told by name
  const fits = ({ fits }, given) => given.every((each) => each === undefined || fits(each));
  return fits(SWITCH, [onlyRateLimits, honourRetryAfter]) && fits(COUNT_OR_NONE, [maxRetries, baseMs, maxMs, jitterPercent]);
}

function oneOfTypes(...types) {
  const type = oneOf(...types);
  return kind(`an object whose \`type\` is ${type.words}`, (value) => type.fits(value?.type));
}

/** Every option that there is; `AgentOptions` in `index.d.ts` says what they mean. */
export const OPTIONS = Object.keys(KINDS);

/**
 * What is wrong with the values of options, a sentence each.
 *
 * @param {object} options those that are `undefined` count as left out, and those that there are not are passed over
 */
export function wrongValues(options) {
  const faults = Object.entries(options).filter(([name, value]) => value !== undefined && KINDS[name] && !KINDS[name].fits(value));
  return [
    ...faults.map(([name, value]) => `\`${name}\` is ${KINDS[name].words}, not ${shown(value)}`),
    ...Object.entries(FIELDS).flatMap(([name, fields]) => unknownFields(`\`${name}\``, options[name], fields)),
    ...(isText(options.baseUrl) ? wrongAddress(options.baseUrl) : []),
    ...(KINDS.hooks.fits(options.hooks) ? wrongHooks(options.hooks) : []),
    ...(KINDS.agents.fits(options.agents) ? wrongAgents(options.agents) : []),
  ];
}

/** Where requests go begins with it. */
function wrongAddress(baseUrl) {
  const [, before, ending] = /^(.*?)(\/v1(?:\/messages)?)\/*$/.exec(baseUrl) ?? [];
  if (ending === undefined) return [];
  const instead = before === '' ? '' : `: write ${JSON.stringify(before)}`;
  return [`\`baseUrl\` ends in ${ending}, which would be asked for twice, because \`/v1/messages\` is added to it${instead}`];
}

function wrongHooks(hooks) {
  const matchers = Object.entries(hooks).flatMap(([event, list]) => list.map((matcher) => [event, isRecord(matcher) ? matcher : {}]));
  return matchers.flatMap(([event, given]) => {
    const unknown = unknownFields(`\`hooks\`: a matcher of ${event}`, given, MATCHER);
    if (unknown.length > 0) return unknown;
    const { matcher, hooks: callbacks, timeout } = given;
    const isCallable = Array.isArray(callbacks) && callbacks.every((callback) => typeof callback === 'function');
    if (!isCallable) return [`\`hooks\`: each matcher of ${event} is an object with functions, \`{ hooks: [async (input) => …] }\``];
    if (matcher !== undefined && !isText(matcher)) return [`\`hooks\`: the \`matcher\` of ${event} is a text, not ${shown(matcher)}`];
    if (timeout !== undefined && !DURATION.fits(timeout)) return [`\`hooks\`: the \`timeout\` of ${event} is a number of seconds above 0, not ${shown(timeout)}`];
    return [];
  });
}

function wrongAgents(agents) {
  return Object.entries(agents).flatMap(([name, { description, prompt, maxTurns }]) => {
    if (!isText(description) || !isText(prompt)) return [`the agent \`${name}\` needs a \`description\` and a \`prompt\``];
    if (maxTurns !== undefined && !COUNT.fits(maxTurns)) return [`\`maxTurns\` of the agent \`${name}\` is ${COUNT.words}, not ${shown(maxTurns)}`];
    return [];
  });
}

/** A value in a few characters. */
export function shown(value) {
  if (typeof value === 'number' || value === null) return String(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && !Array.isArray(value)) return `an object (${value.constructor?.name ?? 'without a prototype'})`;
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
