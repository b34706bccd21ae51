/** What the person has set. The key is in memory only: it is never stored, and gone with the tab. */
import { Changing } from './changes.js';

const STORED = 'windlass-demo-settings';

/** What is kept, with what it is at first. */
const DEFAULTS = {
  model: 'scripted',
  baseUrl: 'https://api.anthropic.com',
  modelName: 'claude-sonnet-4-6',
  /** US dollars that a session may cost where a server is asked. */
  budget: 1,
  /** By the ids of workspaces, `{ mode, rules }`: what was allowed on some files says nothing of others. */
  permissions: {},
  protectsTests: true,
  /** Whether agents have the shell. */
  hasShell: true,
  /** The id of the workspace that was used last: see `workspaces.js`. */
  workspace: 'memory',
  theme: 'system',
};

export class Settings extends Changing {
  #apiKey = '';

  constructor() {
    super();
    Object.assign(this, DEFAULTS, stored());
  }

  get apiKey() {
    return this.#apiKey;
  }

  set apiKey(key) {
    this.#apiKey = key;
  }

  /** Changes some of them. */
  set(changes) {
    Object.assign(this, changes);
    const kept = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, this[name]]));
    try {
      localStorage.setItem(STORED, JSON.stringify(kept));
    } catch {
      // They hold for this tab then.
    }
    this.changed();
  }

  /**
   * What holds on the files of a workspace: the mode, and the rules that were allowed always, such as `Bash(npm test)`.
   *
   * @returns {{ mode: string, rules: string[] }}
   */
  permissionsOn(workspace) {
    return { mode: 'default', rules: [], ...this.permissions[workspace] };
  }

  setMode(workspace, mode) {
    this.#setPermissions(workspace, { mode });
  }

  allowAlways(workspace, rule) {
    const { rules } = this.permissionsOn(workspace);
    if (!rules.includes(rule)) this.#setPermissions(workspace, { rules: [...rules, rule] });
  }

  forget(workspace, rule) {
    const { rules } = this.permissionsOn(workspace);
    this.#setPermissions(workspace, { rules: rules.filter((kept) => kept !== rule) });
  }

  /** Forgets what was allowed on the files of a workspace. */
  forgetWorkspace(workspace) {
    const { [workspace]: _forgotten, ...permissions } = this.permissions;
    this.set({ permissions });
  }

  /** Forgets the rules of a server's tools on all files: another server may have its name later. */
  forgetServer(name) {
    const isOf = (rule) => rule === `mcp__${name}` || rule.startsWith(`mcp__${name}__`);
    for (const workspace of Object.keys(this.permissions)) {
      const { rules } = this.permissionsOn(workspace);
      this.#setPermissions(workspace, { rules: rules.filter((rule) => !isOf(rule)) });
    }
  }

  #setPermissions(workspace, changes) {
    this.set({ permissions: { ...this.permissions, [workspace]: { ...this.permissionsOn(workspace), ...changes } } });
  }

  /** What an agent depends on, as one text: when it differs, the next prompt needs a new agent. */
  get fingerprint() {
    const { theme: _theme, ...rest } = Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, this[name]]));
    return JSON.stringify({ ...rest, apiKey: this.#apiKey });
  }
}

/** What is kept, as far as it is what it should be. */
function stored() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? '{}');
    const isSame = (name, value) => typeof value === typeof DEFAULTS[name] && Array.isArray(value) === Array.isArray(DEFAULTS[name]);
    return Object.fromEntries(Object.entries(kept).filter(([name, value]) => isSame(name, value)));
  } catch {
    return {};
  }
}
