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

/** What each tool's question shows in a form of its own; all other fields are shown as they are. */
const SHOWN = { Bash: ['command', 'description'], Edit: ['file_path', 'old_string', 'new_string'], Write: ['file_path', 'content'] };

/** The fields of an input that would not be seen otherwise, or nothing: a person approves all of it, so they see all of it. */
export function restOf({ name, input }) {
  const rest = Object.entries(input).filter(([field]) => !SHOWN[name]?.includes(field));
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

/** Characters that no person sees, or that turn the direction of what stands behind them. */
const HIDDEN = /[^\P{Cc}\n\t]|[\u00AD\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/gu;

/** A text in which nothing is hidden: what would be is spelled out. */
export function visible(text) {
  return text.replace(HIDDEN, (hidden) => `\\u{${hidden.codePointAt(0).toString(16)}}`);
}
