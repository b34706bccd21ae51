/** Bash for a page that has none: it repeats what the two commands of the demonstration answered on a machine that has them. */
import { tool } from 'windlass';

const SCHEMA = {
  type: 'object',
  properties: { command: { type: 'string' }, description: { type: 'string' } },
  required: ['command'],
};

/** By this word of this file one knows whether the bug is still there, and so which recording is true. */
const REPAIRED = { file: 'shop/discounts.py', word: 'bisect_right' };

/**
 * @param {import('./workspace.js').Workspace} workspace
 * @param {{ calls: { command: string, exit_code: number, stdout: string, stderr: string }[] }} recording the failure and the success
 */
export function recordedBash(workspace, { calls: [failing, passing] }) {
  // Nothing runs, so what was recorded is found by the model's own text.
  const answer = (_, { asWritten: { command } }) => {
    if (command !== failing.command) {
      return { content: `This page has no shell. Recorded is only what \`${failing.command}\` answered.`, isError: true };
    }
    const isRepaired = workspace.text(REPAIRED.file)?.includes(REPAIRED.word);
    const { exit_code: code, stdout, stderr } = isRepaired ? passing : failing;
    const output = `${stdout}${stderr}`.replaceAll('${cwd}', workspace.cwd);
    return code === 0 ? output : { content: `Exit code ${code}\n${output}`, isError: true };
  };
  return tool('Bash', 'Runs a command. Here: repeats what it answered once.', SCHEMA, answer, { commandParam: 'command' });
}
