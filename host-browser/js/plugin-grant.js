/** What a component was granted, of what it declares to need. */
import { NetworkGrant } from './network-grant.js';
import { RoleDirectories } from './role-directories.js';

/** Access to files, from less to more. */
const ACCESS = ['none', 'read', 'write'];

/** What can be granted: `PluginGrant` in `plugin.d.ts` says what each means. */
const KINDS = ['workspace', 'directories', 'roles', 'http', 'secrets', 'env', 'state'];

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
  if (grant.state && (declared.state ?? 'none') === 'none') refuse('state, for which it does not ask');
  const roles = new RoleDirectories(declared.directories ?? [], grant.roles ?? {}, files, refuse);
  const network = new NetworkGrant(declared.network, grant, refuse);
  return { roots: files, roles, env, state: Boolean(grant.state), network };
}
