/** The directories of roles that a component was granted, and what a run gets of them. */

const ACCESS = ['read', 'write'];

/** The pattern of all files. */
const EVERYWHERE = '/**';

export class RoleDirectories {
  #roles;

  /**
   * What is both declared and granted.
   *
   * @param {{ role: string, access: string }[]} declared
   * @param {Record<string, { path: string, access: string }>} granted
   * @param {{ path: string, access: string }[]} others the directories that are granted without a role
   * @param {(what: string) => never} refuse
   */
  constructor(declared, granted, others, refuse) {
    this.#roles = new Map(Object.entries(granted));
    for (const [role, { path, access, ...more }] of this.#roles) {
      const asked = declared.find((asked) => asked.role === role);
      if (!asked) refuse(`a directory for the role \`${role}\`, for which it does not ask`);
      if (!ACCESS.includes(access) || Object.keys(more).length > 0) refuse(`the role \`${role}\` so: it has a \`path\` and an \`access\``);
      if (ACCESS.indexOf(access) > ACCESS.indexOf(asked.access)) refuse(`to write the directory of the role \`${role}\`, which it asks to read`);
      if (!isFull(path)) refuse(`the directory \`${path}\` of the role \`${role}\`, whose path is not absolute`);
    }
    for (const { path: written } of [...others, ...this.#roles.values()].filter(({ access }) => access === 'write')) {
      if (this.#readOnly().some(({ path }) => isIn(written, path))) refuse(`to write \`${written}\`, which lies in a directory that it is granted to read`);
    }
  }

  /** Where the directory of a role is, if it was granted. */
  path(role) {
    return this.#roles.get(role)?.path;
  }

  /** The directories. */
  get roots() {
    return [...this.#roles.values()];
  }

  /**
   * What a run was granted, and these directories as well. What is granted to be read is not written, whatever else is granted
   * around it; patterns that deny are those of the run.
   *
   * @param {{ cwd: string, roots: object[], deny: object[] }} grant
   * @param {boolean} readOnly the run only reads
   * @param {{ read: boolean, write: boolean }} denied whether rules deny all reading or all writing
   */
  added(grant, readOnly, denied) {
    if (this.#roles.size === 0) return grant;
    const roots = this.roots.map(({ path, access }) => ({ path, access: readOnly ? 'read' : access }));
    const frozen = this.#readOnly().map(({ path }) => ({ pattern: literal(path), access: 'write' }));
    const all = ACCESS.filter((access) => denied[access]).map((access) => ({ pattern: EVERYWHERE, access }));
    return { ...grant, roots: [...grant.roots, ...roots], deny: [...grant.deny, ...frozen, ...all] };
  }

  #readOnly() {
    return this.roots.filter(({ access }) => access === 'read');
  }
}

/** Absolute, and without names that lead elsewhere. */
function isFull(path) {
  return typeof path === 'string' && path.startsWith('/') && !path.split('/').some((name) => name === '.' || name === '..');
}

function isIn(path, directory) {
  const base = directory.replace(/\/+$/, '');
  return path.replace(/\/+$/, '') === base || path.startsWith(`${base}/`);
}

/** The pattern of one directory and all that is in it. */
function literal(path) {
  return path.replace(/\/+$/, '').replace(/[\\*?[\]{}]/g, '\\$&') || EVERYWHERE;
}
