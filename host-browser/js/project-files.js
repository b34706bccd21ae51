/** Settings and project files (`CLAUDE.md`, skills, agents, commands, output styles) in the file tree of an agent. */
import { runOnFiles } from './call-files.js';
import { absolute, childOf, namesOf, parentOf } from './file-path.js';

/** The sources of settings, of which each can be left out. */
const SOURCES = ['user', 'project', 'local'];

/** What in a directory may have something to be read. */
const IN_PROJECT = ['.claude', 'CLAUDE.md', 'CLAUDE.local.md', '.mcp.json'];

/**
 * What is read before a session begins, and what the options of the agent say that it does not change (`Wanted` of the core).
 *
 * @param {object} options of the agent
 * @returns {object | undefined} nothing, if nothing is read
 */
export function wantedSettings(options) {
  const { settingSources, settings, managedSettings, configDir, trustProject = false } = options;
  // Where the embedder gives no files, there are none that anybody could have written.
  const sources = settingSources ?? (options.files ? SOURCES : []);
  if (sources.length === 0 && settings === undefined && managedSettings === undefined) return undefined;
  return {
    sources: sources.join(','),
    configDir,
    isTrusted: trustProject,
    settings,
    managedSettings,
    mode: options.permissionMode,
    agent: options.agent,
  };
}

/**
 * Whether there is anything to read.
 *
 * @param {object} fileSystem
 * @param {string} cwd
 * @param {object} wanted what {@link wantedSettings} gave
 */
export async function hasProjectFiles(fileSystem, cwd, { sources, configDir, settings, managedSettings }) {
  if (settings !== undefined || managedSettings !== undefined) return true;
  const places = sources.includes('user') && configDir ? [configDir] : [];
  if (sources.includes('project') || sources.includes('local')) {
    // Instructions of the directories above count in a repository.
    for (let above = absolute('/', cwd); ; above = parentOf(above)) {
      places.push(...IN_PROJECT.map((name) => childOf(above, name)));
      if (above === '/') break;
    }
  }
  try {
    const found = await Promise.all(places.map(async (place) => Boolean(await fileSystem.stat(place))));
    return found.includes(true);
  } catch (cause) {
    // They may deny something.
    throw new Error(`the files cannot be searched for settings: ${cause?.message ?? cause}; \`settingSources: []\` leaves that out`, { cause });
  }
}

/**
 * Makes something of settings and project files, which are read as often as it takes to have all in memory.
 *
 * @template T
 * @param {object} fileSystem
 * @param {string} cwd
 * @param {object} wanted what {@link wantedSettings} gave
 * @param {(wanted: string, files: ProjectFiles) => T} make
 * @returns {Promise<T>}
 */
export function withProjectFiles(fileSystem, cwd, wanted, make) {
  // What rules deny is left out by the core, which knows them once it has read the settings.
  const grant = { cwd, roots: [{ path: '/', access: 'read' }], deny: [] };
  return runOnFiles(fileSystem, grant, undefined, ({ filesystem }) => {
    const files = new ProjectFiles(filesystem().roots()[0].directory, cwd);
    return make(JSON.stringify({ ...wanted, settings: files.settings(wanted.settings) }), files);
  });
}

/** What the core reads: `ProjectFiles` there. */
class ProjectFiles {
  #root;
  #cwd;

  constructor(root, cwd) {
    this.#root = root;
    this.#cwd = cwd;
  }

  /** The settings of the option: an object, its JSON, or the path of a file. */
  settings(given) {
    if (typeof given !== 'string') return given;
    if (given.trim().startsWith('{')) return JSON.parse(given);
    const text = this.read(this.real(given), Infinity);
    if (text === undefined) throw new Error(`\`settings\`: there is no file ${this.real(given)}`);
    return JSON.parse(text);
  }

  real(path) {
    try {
      return absolute(this.#cwd, path);
    } catch {
      return path; // there is nothing at a path that is none
    }
  }

  read(path, most) {
    const { kind, size } = this.#stat(path) ?? {};
    if (kind !== 'file') return undefined;
    if (size > most) throw new Error(`it has more than ${most} bytes`);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(this.#root.read(this.#below(path), 0, size));
    } catch (error) {
      throw error instanceof TypeError ? new Error('it is not UTF-8 text') : toError(error);
    }
  }

  list(folder, most) {
    if (this.#stat(folder)?.kind !== 'directory') return [];
    const found = [];
    for (let cursor = 0; cursor !== undefined && found.length < most; ) {
      const { entries, next } = this.#root.list(this.#below(folder), cursor, false);
      found.push(...entries.map(({ name, kind }) => (kind === 'directory' ? `${name}/` : name)));
      cursor = next;
    }
    return found.slice(0, most);
  }

  exists(path) {
    return this.#stat(path) !== undefined;
  }

  #stat(path) {
    try {
      return this.#root.stat(this.#below(path));
    } catch {
      return undefined;
    }
  }

  #below(path) {
    return namesOf(this.real(path)).join('/') || '.';
  }
}

/** Views of files throw the names of what went wrong. */
function toError(thrown) {
  return thrown instanceof Error ? thrown : new Error(`it cannot be read (${thrown})`);
}
