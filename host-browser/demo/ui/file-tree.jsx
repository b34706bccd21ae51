/** The files of a workspace as a tree; a directory is read when it is opened. */
import { useState } from 'preact/hooks';
import { useLoaded } from './use-loaded.js';

/** Entries of a directory that are shown. */
const MOST = 500;

export function FileTree({ workspace, opened, open }) {
  return <Entries workspace={workspace} path="" opened={opened} open={open} />;
}

function Entries({ workspace, path, opened, open }) {
  const { value: entries, problem } = useLoaded(() => workspace.list(path), [workspace, path, workspace.revision]);
  if (problem) return <p class="note bad">{problem}</p>;
  const shown = entries?.slice(0, MOST) ?? [];
  const at = (name) => (path === '' ? name : `${path}/${name}`);
  return (
    <ul>
      {shown.map(({ name, kind }) => (
        <li key={`${kind} ${name}`}>
          {kind === 'directory' ? (
            <Directory workspace={workspace} name={name} path={at(name)} opened={opened} open={open} />
          ) : (
            <button class="file" aria-current={at(name) === opened ? 'true' : undefined} onClick={() => open(at(name))}>{name}</button>
          )}
        </li>
      ))}
      {entries?.length === 0 && <li class="faint">empty</li>}
      {entries?.length > MOST && <li class="faint">and {entries.length - MOST} more</li>}
    </ul>
  );
}

function Directory({ workspace, name, path, opened, open }) {
  // What may be large is closed at first.
  const [isOpen, setIsOpen] = useState(workspace.hasBookshop);
  return (
    <details open={isOpen} onToggle={({ target }) => setIsOpen(target.open)}>
      <summary>{name}/</summary>
      {isOpen && <Entries workspace={workspace} path={path} opened={opened} open={open} />}
    </details>
  );
}
