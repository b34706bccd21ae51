/** The judgement of a component, in the form that the core reads; there is no *allow* in either. */

/** Characters of a reason, paths of a narrowing, and characters of one of them. */
const LONGEST_REASON = 16 << 10;
const MOST_PATHS = 1_000;
const LONGEST_PATTERN = 4096;

/**
 * @param {{ tag: string, val?: any }} judgement what the component said
 * @param {{ event: string, input: object }} call
 * @param {Set<string>} enforcing the tools whose files this host resolves
 * @returns {object} what cannot be kept is thrown, and so refuses the call: a judge must be able to rely on what it said
 */
export function judged({ tag, val }, { event, input }, enforcing) {
  switch (tag) {
    case 'pass':
      return { verdict: 'pass' };
    case 'deny':
      return { verdict: 'deny', reason: reason(val) };
    case 'ask':
      placed(tag, event, ['PreToolUse', 'PermissionRequest']);
      return { verdict: 'ask', reason: reason(val) };
    case 'narrow':
      placed(tag, event, ['PreToolUse']);
      return { verdict: 'narrow', ...narrowed(val, input.tool_name, enforcing) };
    default:
      throw new Error(`its judgement \`${tag}\` is none that this host knows`);
  }
}

/** The same of what a Worker has judged already. */
export function judgedAgain({ verdict, reason, deny_paths, timeout_ms } = {}, call, enforcing) {
  const val = verdict === 'narrow' ? { denyPaths: deny_paths, timeoutMs: timeout_ms } : reason;
  return judged({ tag: verdict, val }, call, enforcing);
}

function reason(text) {
  if (text.length > LONGEST_REASON) {
    throw new Error(`its reason has ${text.length} characters, the limit is ${LONGEST_REASON}`);
  }
  return text;
}

function placed(judgement, event, places) {
  if (!places.includes(event)) throw new Error(`its judgement is \`${judgement}\`, which ${event} has no place for`);
}

function narrowed({ denyPaths, timeoutMs }, tool, enforcing) {
  if (denyPaths.length > MOST_PATHS) throw new Error(`its judgement has ${denyPaths.length} paths, the limit is ${MOST_PATHS}`);
  if (denyPaths.length > 0 && !enforcing.has(tool)) {
    throw new Error(`its judgement narrows paths, which does not hold for ${tool}, whose files this host does not resolve`);
  }
  return { deny_paths: denyPaths.map(pattern), ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }) };
}

function pattern({ pattern, access }) {
  // Patterns are compared with absolute paths: one that is relative to some directory would match nothing.
  const matchesSomething = pattern.startsWith('/') || pattern.startsWith('**/') || !pattern.replace(/\/+$/, '').includes('/');
  if (pattern === '' || pattern.length > LONGEST_PATTERN || !matchesSomething) {
    throw new Error(
      `its path pattern ${JSON.stringify(pattern.slice(0, 99))} must be absolute, begin with \`**/\`, or be a name alone`,
    );
  }
  return { pattern, access };
}
