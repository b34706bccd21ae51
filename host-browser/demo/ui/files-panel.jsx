/** The workspace: its files as a tree, and an editor for one of them. */
import { useState } from 'preact/hooks';
import { useChanges } from './use-changes.js';

export function FilesPanel({ workspace }) {
  useChanges(workspace);
  // The editor's text outlives a look at another panel.
  const [opened, setOpened] = useState();
  const open = (path) => setOpened({ path, base: workspace.text(path), draft: workspace.text(path) });
  return (
    <div class="files">
      <nav aria-label="Files of the workspace" class="tree">
        <Directory tree={treeOf(workspace.paths())} opened={opened?.path} open={open} />
      </nav>
      {workspace.problem && <p class="note bad" role="alert">{workspace.problem}</p>}
      <NewFile workspace={workspace} open={open} />
      {!opened && <p class="faint">Choose a file to read or change it. The agent works on the same files.</p>}
      {opened && workspace.text(opened.path) === undefined && <p class="note"><code>{opened.path}</code> is no text, so it is not shown.</p>}
      {opened && workspace.text(opened.path) !== undefined && (
        <Editor key={opened.path} workspace={workspace} opened={opened} change={setOpened} />
      )}
    </div>
  );
}

function Directory({ tree, opened, open }) {
  return (
    <ul>
      {[...tree.directories].map(([name, below]) => (
        <li>
          <details open>
            <summary>{name}/</summary>
            <Directory tree={below} opened={opened} open={open} />
          </details>
        </li>
      ))}
      {tree.files.map(({ name, path }) => (
        <li><button class="file" aria-current={path === opened ? 'true' : undefined} onClick={() => open(path)}>{name}</button></li>
      ))}
    </ul>
  );
}

/** @returns {{ directories: Map<string, object>, files: { name: string, path: string }[] }} */
function treeOf(paths) {
  const root = { directories: new Map(), files: [] };
  for (const path of paths) {
    const names = path.split('/');
    const file = names.pop();
    let at = root;
    for (const name of names) {
      if (!at.directories.has(name)) at.directories.set(name, { directories: new Map(), files: [] });
      at = at.directories.get(name);
    }
    at.files.push({ name: file, path });
  }
  return root;
}

function NewFile({ workspace, open }) {
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState();
  const add = async (event) => {
    event.preventDefault();
    const name = path.trim().replace(/^\/+/, '');
    const isPath = name && name.split('/').every((part) => part && part !== '.' && part !== '..');
    if (!isPath) setProblem('A file needs a name such as notes/today.md.');
    else if (workspace.has(name)) setProblem(`${name} is there already.`);
    else {
      setProblem(undefined);
      setPath('');
      await workspace.write(name, '');
      open(name);
    }
  };
  return (
    <form class="row" onSubmit={add}>
      <label class="visually-hidden" for="new-file">Path of a new file</label>
      <input id="new-file" value={path} placeholder="notes/today.md" onInput={({ target }) => setPath(target.value)} />
      <button>New file</button>
      {problem && <p class="note bad" role="alert">{problem}</p>}
    </form>
  );
}

function Editor({ workspace, opened, change }) {
  const { path, base, draft } = opened;
  const current = workspace.text(path);
  const isChanged = draft !== base;
  // Nobody's text is lost: what the agent wrote is taken at once only where the person has written nothing.
  if (current !== base && !isChanged) change({ path, base: current, draft: current });
  const isStale = current !== base && isChanged;
  const save = async () => {
    await workspace.write(path, draft);
    change({ path, base: draft, draft });
  };
  const pressed = (event) => {
    if (event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
  };
  return (
    <div class="editor">
      <label for="editor"><code>{path}</code>{isChanged && ' (not saved)'}</label>
      <textarea
        id="editor"
        spellcheck={false}
        wrap="off"
        value={draft}
        onInput={({ target }) => change({ path, base, draft: target.value })}
        onKeyDown={pressed}
      />
      {isStale && <p class="note bad" role="alert">The agent has changed this file since you opened it.</p>}
      <div class="row">
        <button class="primary" disabled={!isChanged} onClick={save}>{isStale ? 'Save over it' : 'Save'}</button>
        <button disabled={!isChanged} onClick={() => change({ path, base: current, draft: current })}>
          {isStale ? 'Take the agent’s' : 'Undo all'}
        </button>
      </div>
    </div>
  );
}
