/** The part of a tool's input that fits a line. */
export function inputLine(input) {
  const { command, file_path: path, pattern } = input ?? {};
  return command ?? path ?? pattern ?? JSON.stringify(input ?? {});
}

/** A change of permissions as a person reads it: the rules that it writes, or the mode that it sets. */
export function changeLine(change) {
  if (change.type === 'setMode') return `mode ${change.mode}`;
  if (change.type === 'addRules') return change.rules.map(ruleText).join(', ');
  if (change.type === 'addDirectories') return `directories ${change.directories.join(', ')}`;
  return change.type;
}

/** A rule as settings spell it. */
export function ruleText({ toolName, ruleContent }) {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
}
