/** The result of a command, in the shape of the native host (Agent SDK reference, `BashOutput`). */

/** Characters of standard output and of standard error that are shown; the middle of a longer one is cut. */
const MOST_STDOUT = 30_000;
const MOST_STDERR = 10_000;

/** What the exit status 1 of these means; it is an answer, and no failure. */
const ANSWERS = new Map([
  ['grep', 'No matches found'],
  ['egrep', 'No matches found'],
  ['fgrep', 'No matches found'],
  ['rg', 'No matches found'],
  ['diff', 'Files differ'],
  ['test', 'Condition is false'],
  ['[', 'Condition is false'],
]);

/** A command of one pipeline without quotes and expansions: only there its last program is easy to tell. */
const PLAIN = /^[\w\s./=:,@%+*?[\]|-]+$/;

/**
 * @param {string} command as the model wrote it
 * @param {{ stdout: string, stderr: string, exitCode: number, how: string, timeout: number }} ended
 * @param {string} [note] what is to be said beside its output
 */
export function shellResult(command, ended, note) {
  const stdout = shown(ended.stdout, MOST_STDOUT);
  const stderr = shown(ended.how === 'ended' ? withHint(ended) : '', MOST_STDERR);
  const { headline, meaning, isError } = outcome(command, ended);
  const parts = [headline, stdout, stderr, meaning, note].map((part) => part?.trimEnd()).filter(Boolean);
  const structured = { stdout, stderr, interrupted: ended.how !== 'ended', isImage: false };
  if (meaning) structured.returnCodeInterpretation = meaning;
  const text = parts.join('\n') || '(no output)';
  return { content: [{ type: 'text', text }], is_error: isError, structured, observed: [] };
}

function outcome(command, { how, exitCode, timeout }) {
  const until = 'Its output until then is not known.';
  if (how === 'late') return { headline: `The command was stopped: it ran out of time after ${timeout} ms. ${until}`, isError: true };
  if (how === 'interrupted') return { headline: `The command was interrupted. ${until}`, isError: true };
  if (exitCode === 0) return { isError: false };
  const meaning = exitCode === 1 && PLAIN.test(command) ? ANSWERS.get(command.split('|').at(-1).trim().split(/\s/)[0]) : undefined;
  return meaning ? { meaning, isError: false } : { headline: `Exit code ${exitCode}`, isError: true };
}

/** A program that is not there is not missing on this machine only: there is none that could be installed. */
function withHint({ stderr }) {
  const told = ownWords(stderr);
  const missing = told.match(/: (\S+): command not (?:found|available)/);
  if (!missing) return told;
  const hint = `[${missing[1]} is not in this shell, which has no operating system below it: \`help\` lists what there is]`;
  return `${told.trimEnd()}\n${hint}\n`;
}

/** What just-bash says of its own settings, in the words of those who have this tool. */
function ownWords(stderr) {
  return stderr
    .replace(/, increase executionLimits\.(\w+)/g, ', a limit of this shell (`limits.$1` of `bashTool`)')
    .replace(/Exclude '\w+' from your commands or use the Node\.js bundle/g, 'It does not work in this shell');
}

function shown(text, most) {
  if (text.length <= most) return text;
  const half = most / 2;
  const [head, tail] = [text.slice(0, half), text.slice(-half)].map((part) => part.toWellFormed?.() ?? part);
  return `${head}\n\n[${text.length - most} characters of output are not shown]\n\n${tail}`;
}
