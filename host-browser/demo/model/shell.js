/**
 * Bash over the workspace: just-bash, without network and programs. A browser has no Python either: what `python3 -m unittest -q`
 * answers in the demonstration's project is what it answered on a machine that has it.
 */

/** By this word of this file one knows whether the bug is still there, and so which recording is true. */
const REPAIRED = { file: 'shop/discounts.py', word: 'bisect_right' };

/** What of Python is here. */
export const RECORDED = 'python3 -m unittest -q';

/**
 * The tool; loads the shell.
 *
 * @param {import('./workspace.js').Workspace} workspace
 * @param {{ calls: { exit_code: number, stdout: string, stderr: string }[] }} recording the failure and the success
 */
export async function shell(workspace, recording) {
  const { bashTool } = await import('windlass/shell');
  return bashTool({ customCommands: workspace.hasBookshop ? [python(workspace, recording)] : [] });
}

function python({ cwd }, { calls: [failing, passing] }) {
  const execute = async (args, { cwd: directory, fs }) => {
    if (`python3 ${args.join(' ')}` !== RECORDED || directory !== cwd) {
      const stderr = `python3: not in this shell; only \`${RECORDED}\` is, in ${cwd}, whose answers were recorded\n`;
      return { stdout: '', stderr, exitCode: 127 };
    }
    const code = await fs.readFile(`${cwd}/${REPAIRED.file}`).catch(() => '');
    const { exit_code: exitCode, stdout, stderr } = code.includes(REPAIRED.word) ? passing : failing;
    const here = (text) => text.replaceAll('${cwd}', cwd);
    return { stdout: here(stdout), stderr: here(stderr), exitCode };
  };
  return { name: 'python3', execute };
}
