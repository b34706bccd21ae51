/** A hook of the page, to show what hooks do: it refuses changes of the project's tests. */

/** @param {string} cwd the working directory */
export function testsStay(cwd) {
  const refuse = ({ tool_input: { file_path: path = '' } }) => {
    const isTest = path.startsWith(`${cwd}/tests/`) || path.startsWith('tests/');
    if (!isTest) return undefined;
    const hookSpecificOutput = {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'the tests of this project stay as they are (a hook of this page, see Settings)',
    };
    return { hookSpecificOutput };
  };
  return { PreToolUse: [{ matcher: 'Write|Edit', hooks: [refuse] }] };
}
