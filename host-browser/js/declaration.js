/** What a component declares about itself (`wit/README.md`). */
import { askedNetwork } from './network-grant.js';
import { leb128, sections } from './wasm-binary.js';

/** The custom section of a component that holds its declaration. */
const SECTION = 'windlass:plugin';

/** The version of `windlass:plugin` that this host implements. */
const WIT = '0.1.0';

/** The keys that something here enforces; any other is refused, so that whoever reads a declaration can rely on it. */
const KEYS = {
  '': ['name', 'version', 'wit', 'tools', 'hooks', 'grants', 'limits', 'instance'],
  tools: ['name', 'description', 'input_schema', 'annotations', 'paths', 'retry', 'timeout_ms'],
  hooks: ['name', 'event', 'matcher', 'kind', 'timeout_ms'],
  grants: ['filesystem', 'directories', 'http', 'secrets', 'env', 'state'],
  directories: ['role', 'access', 'description'],
  limits: ['memory_bytes', 'timeout_ms', 'output_bytes', 'log_bytes', 'host_calls', 'http_bytes'],
};

/** Names of tools and hooks: what the Messages API takes. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Roles of a plugin at most, and characters of their descriptions, none of which controls or turns text. */
const MOST_ROLES = 16;
const DESCRIPTION = /^(?=.*\S)[^\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]{1,200}$/u;

/** Milliseconds of the longest run of a hook. */
const LONGEST_HOOK_MS = 60_000;

/** Events at which something can be refused. */
const REFUSABLE = ['PreToolUse', 'PermissionRequest', 'UserPromptSubmit', 'UserPromptExpansion', 'WorktreeCreate'];

/**
 * The declaration that a component carries in a custom section.
 * @param {Uint8Array} component
 */
export function declarationOf(component) {
  const found = [...customSections(component)].filter(([name]) => name === SECTION);
  if (found.length !== 1) {
    throw new Error(`the component has ${found.length} custom sections \`${SECTION}\`, and needs one`);
  }
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(found[0][1]));
}

/**
 * The declaration with what was left out filled in.
 * @throws where it has a key that nothing enforces, or a value that nothing could keep
 */
export function checked(declaration) {
  const fault = (what) => new Error(`The component ${declaration?.name ?? '?'} cannot be loaded: ${what}`);
  const only = (part, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault(`\`${part}\` is no object`);
    const unknown = Object.keys(value).find((key) => !KEYS[part].includes(key));
    if (unknown !== undefined) throw fault(`it declares \`${unknown}\`, which this host does not know`);
    return value;
  };
  const named = (part, list = []) => {
    const names = list.map((item) => only(part, item).name);
    const bad = names.find((name, i) => typeof name !== 'string' || !NAME.test(name) || names.indexOf(name) !== i);
    if (bad !== undefined) throw fault(`the name ${JSON.stringify(bad)} in \`${part}\` is misspelt, or there twice`);
    return list;
  };
  only('', declaration);
  if (declaration.wit !== WIT) throw fault(`it was made for version ${declaration.wit} of windlass:plugin, and this host has ${WIT}`);
  if (!['call', 'session'].includes(declaration.instance ?? 'call')) throw fault('its `instance` is neither `call` nor `session`');
  const number = (what, value, least = 0, most = Number.MAX_SAFE_INTEGER) => {
    const isOne = value === undefined || value === null || (Number.isSafeInteger(value) && value >= least && value <= most);
    // Compared with anything else a limit would be none.
    if (!isOne) throw fault(`${what} is ${JSON.stringify(value)}, which is no whole number from ${least} to ${most}`);
  };
  const tools = named('tools', declaration.tools);
  if (declaration.instance === 'session' && tools.length === 0) {
    throw fault('it declares `"instance": "session"`, to keep its memory from call to call, and has no tool that could be called');
  }
  for (const { name, timeout_ms } of tools) number(`\`timeout_ms\` of \`${name}\``, timeout_ms, 1);
  const limits = only('limits', declaration.limits ?? {});
  for (const [name, limit] of Object.entries(limits)) {
    // Under 0 of these no call runs.
    number(`\`limits.${name}\``, limit, ['memory_bytes', 'timeout_ms'].includes(name) ? 1 : 0);
  }
  const hooks = named('hooks', declaration.hooks);
  for (const { name, kind, event, timeout_ms } of hooks) {
    number(`\`timeout_ms\` of its hook \`${name}\``, timeout_ms, 1, LONGEST_HOOK_MS);
    if (kind !== 'judge' && kind !== 'observer') throw fault(`its hook \`${name}\` is neither a judge nor an observer`);
    if (kind === 'judge' && !REFUSABLE.includes(event)) {
      throw fault(`its hook \`${name}\` is a judge of ${event}, at which nothing can be refused: make it an observer`);
    }
  }
  const grants = only('grants', declaration.grants ?? {});
  const network = askedNetwork(grants, (what) => {
    throw fault(`it asks for ${what}`);
  });
  const roles = [];
  for (const { role, access, description } of (grants.directories ?? []).map((asked) => only('directories', asked))) {
    if (typeof role !== 'string' || !NAME.test(role) || roles.includes(role)) {
      throw fault(`the role ${JSON.stringify(role)} in \`directories\` is misspelt, or there twice`);
    }
    if (access !== 'read' && access !== 'write') throw fault(`the role \`${role}\` has no access \`read\` or \`write\``);
    if (typeof description !== 'string' || !DESCRIPTION.test(description)) {
      throw fault(`the role \`${role}\` has no usable \`description\` of at most 200 characters on one line`);
    }
    roles.push(role);
  }
  if (roles.length > MOST_ROLES) throw fault(`it has ${roles.length} roles in \`directories\`, more than ${MOST_ROLES}`);
  return {
    name: declaration.name,
    tools,
    hooks,
    grants,
    network,
    limits,
    keepsInstance: declaration.instance === 'session',
  };
}

/** The custom sections at the top level: names and contents. */
function* customSections(bytes) {
  const MAGIC = [0, 0x61, 0x73, 0x6d];
  if (bytes.length < 8 || MAGIC.some((byte, i) => bytes[i] !== byte)) throw new Error('not WebAssembly');
  for (const { id, start, end } of sections(bytes)) {
    if (id !== 0) continue;
    const [length, from] = leb128(bytes, start);
    yield [new TextDecoder().decode(bytes.subarray(from, from + length)), bytes.subarray(from + length, end)];
  }
}
