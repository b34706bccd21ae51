/** What a component was granted, of what it declares to need. */
import { NetworkGrant } from './network-grant.js';
import { RoleDirectories } from './role-directories.js';

/** Access to files, from less to more. */
const ACCESS = ['none', 'read', 'write'];

/** What can be granted: `PluginGrant` in `plugin.d.ts` says what each means. */
const KINDS = ['workspace', 'directories', 'roles', 'http', 'secrets', 'env', 'state', 'stateId'];

/** Under what something is remembered for good: it is part of the keys of databases. */
const STATE_ID = /^[^\p{Cc}]{1,120}$/u;

/** Way in for what comes with this package, whose files only rules decide about. */
export const TRUSTED = Symbol('trusted');

/**
 * What a plugin may reach: what it declares and was granted, both. What it never asked for cannot be granted.
 *
 * @param {string} name of the component
 * @param {object} declared its `grants`, and `network`: what `askedNetwork` makes of them
 * @param {object} grant
 */
export function granted(name, declared, grant) {
  if (grant === TRUSTED) {
    const network = new NetworkGrant({ origins: new Map(), secrets: new Map() }, {});
    return { roots: [], roles: new RoleDirectories([], {}, []), env: new Map(), state: false, network };
  }
  const refuse = (what) => {
    throw new Error(`The component ${name} cannot be granted ${what}`);
  };
  for (const key of Object.keys(grant)) {
    if (!KINDS.includes(key)) refuse(`\`${key}\`, which this host does not hand out`);
  }
  const most = ACCESS.indexOf(declared.filesystem ?? 'none');
  const roots = Object.entries(grant.directories ?? {});
  if (grant.workspace) roots.unshift(['', grant.workspace]);
  if (most === 0 && roots.length > 0) refuse('files, for which it does not ask');
  const files = roots.map(([path, access]) => {
    if (ACCESS.indexOf(access) < 1) refuse(`the access \`${access}\`: there are \`read\` and \`write\``);
    if (path !== '' && !path.startsWith('/')) refuse(`the directory \`${path}\`, whose path is not absolute`);
    return { path, access: ACCESS[Math.min(ACCESS.indexOf(access), most)] };
  });
  const env = new Map(Object.entries(grant.env ?? {}));
  for (const variable of env.keys()) {
    if (!declared.env?.includes(variable)) refuse(`the variable \`${variable}\`, for which it does not ask`);
  }
  const stateId = checkedState(grant, declared.state ?? 'none', refuse);
  const roles = new RoleDirectories(declared.directories ?? [], grant.roles ?? {}, files, refuse);
  const network = new NetworkGrant(declared.network, grant, refuse);
  return { roots: files, roles, env, state: Boolean(grant.state), stateId, network };
}

/** Under what it remembers for good; `undefined` where it remembers until its session ends, or not at all. */
function checkedState({ state = false, stateId }, declared, refuse) {
  if (![false, true, 'session', 'durable'].includes(state)) refuse(`the state \`${state}\`: there are \`session\` and \`durable\``);
  if (state && declared === 'none') refuse('state, for which it does not ask');
  if (state !== 'durable') {
    if (stateId !== undefined) refuse('a `stateId` without `state: "durable"`');
    return undefined;
  }
  if (declared !== 'durable') refuse('durable state, for which it does not ask');
  // No name that a component gives itself leads to what another one remembers.
  if (typeof stateId !== 'string' || !STATE_ID.test(stateId)) {
    refuse('durable state without a `stateId`: a text of at most 120 characters that is this component\'s alone');
  }
  return stateId;
}
