/** What one command leaves for the next: its directory and its variables, as `ShellState` of the core. */

/** Variables that mean something to the shell itself, or that it or the host made: they never last. */
const OF_THE_SHELL = new RegExp(
  [
    '^(BASH|COMP_|DYLD_|EPOCH|GIT_|HIST|LC_|LD_|windlass_)',
    'PATH$',
    '^(_|ENV|EUID|EXECIGNORE|FIGNORE|FUNCNAME|GLOBIGNORE|GLOBSORT|GROUPS|HOME|HOSTNAME|HOSTTYPE|IFS|LINENO|MACHTYPE|OLDPWD)$',
    '^(OPTARG|OPTERR|OPTIND|OSTYPE|PIPESTATUS|POSIXLY_CORRECT|PPID|PS[0-4]|PWD|RANDOM|REPLY|SECONDS|SHELLOPTS|SRANDOM|TMOUT|UID)$',
  ].join('|'),
);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Characters of the variables that last; beyond them the largest are dropped. */
const MOST_VARIABLES = 32 * 1024;

/**
 * Where a command begins: in the directory that it was judged for, with what the last one left.
 * @returns {{ directory: string, variables: Record<string, string> }}
 */
export function beginning({ command, shell, grant }) {
  const directory = command?.plan?.directory ?? shell?.directory ?? grant.cwd;
  const known = (shell?.variables ?? []).filter(({ name, value }) => typeof value === 'string' && lasts(name));
  return { directory, variables: Object.fromEntries(known.map(({ name, value }) => [name, value])) };
}

/**
 * What a command leaves, and what is to be said of it.
 *
 * @param {{ directory: string, variables: Record<string, string> }} start
 * @param {Record<string, string>} before the variables that it began with
 * @param {Record<string, string> | undefined} now those that it ended with; nothing if it did not come to its end
 * @param {{ mayWork: (directory: string) => boolean }} view
 */
export function after(start, before, now, view) {
  if (!now) return { shell: null, note: undefined };
  const notes = [];
  const ended = now.PWD ?? start.directory;
  const stays = view.mayWork(ended);
  if (!stays) notes.push(`The command ended in ${ended}, outside of the workspace; the next one begins in ${start.directory}.`);
  const names = Object.keys(now).filter((name) => lasts(name) && (now[name] !== before[name] || Object.hasOwn(start.variables, name)));
  const { kept, dropped } = fitting(names.map((name) => ({ name, value: String(now[name]), exported: true })));
  if (dropped.length > 0) notes.push(`Too large to last: ${dropped.join(', ')}.`);
  return { shell: { directory: stays ? ended : start.directory, variables: kept }, note: notes.join('\n') || undefined };
}

function lasts(name) {
  return NAME.test(name) && !OF_THE_SHELL.test(name);
}

function fitting(variables) {
  const size = ({ name, value }) => name.length + value.length;
  const kept = [...variables].sort((a, b) => size(a) - size(b));
  const dropped = [];
  while (kept.reduce((sum, variable) => sum + size(variable), 0) > MOST_VARIABLES) dropped.push(kept.pop().name);
  return { kept, dropped };
}
