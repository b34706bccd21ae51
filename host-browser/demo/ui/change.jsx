/** What a call changes in a file, line by line. */
import { diffLines } from 'diff';
import { visible } from '../model/tool-input.js';

/** @returns the texts before and after, or nothing if the call is none that changes a file in a known way */
export function changeOf({ name, input }) {
  if (typeof input?.file_path !== 'string') return undefined;
  if (name === 'Edit' && typeof input.old_string === 'string' && typeof input.new_string === 'string') {
    return { path: input.file_path, before: input.old_string, after: input.new_string };
  }
  if (name === 'Write' && typeof input.content === 'string') return { path: input.file_path, before: '', after: input.content };
  return undefined;
}

export function Change({ path, before, after }) {
  const lines = diffLines(ended(before), ended(after)).flatMap(({ value, added, removed }) => {
    const [sign, name] = added ? ['+', 'added'] : removed ? ['−', 'removed'] : [' ', 'same'];
    return value.replace(/\n$/, '').split('\n').map((text) => ({ sign, name, text }));
  });
  return (
    <pre class="change" tabindex={0} role="group" aria-label={`Change of ${visible(path)}`}>
      {lines.map(({ sign, name, text }) => <span class={name}><span class="sign">{sign}</span> {visible(text)}{'\n'}</span>)}
    </pre>
  );
}

/** So that a last line without its end differs only where it does. */
function ended(text) {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
