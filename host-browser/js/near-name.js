/** Names that were probably meant by others. */

/** `: did you mean …?`, if the name of an option or a field is near enough; upper and lower case, `_` and `-` do not count. */
export function meant(name, names) {
  const plain = (text) => text.toLowerCase().replace(/[^a-z]/g, '');
  const [apart, known] = nearest(plain(name), names, plain);
  return apart <= Math.min(3, Math.ceil(name.length / 3)) ? `: did you mean \`${known}\`?` : '';
}

/** The name of a tool that a misspelt one probably stands for, if one is as near as the core wants it (`lint::nearest_name`). */
export function nearestTool(name, names) {
  const [apart, known] = nearest(name.toLowerCase(), names, (text) => text.toLowerCase());
  return apart <= 2 && apart + 1 < name.length ? known : undefined;
}

function nearest(name, names, form) {
  const apart = names.map((known) => [distance(name, form(known)), known]);
  return apart.reduce((least, other) => (other[0] < least[0] ? other : least), [Infinity, undefined]);
}

/** How many characters have to be added, left out or replaced. */
function distance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, character] of [...from].entries()) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = row[column] + (to[column] === character ? 0 : 1);
      next.push(Math.min(replaced, row[column + 1] + 1, next[column] + 1));
    }
    row = next;
  }
  return row[to.length];
}
