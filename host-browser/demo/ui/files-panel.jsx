/** The workspace: which it is, its files as a tree, and an editor for one of them. */
import { useEffect, useState } from 'preact/hooks';
import { Editor } from './editor.jsx';
import { FileTree } from './file-tree.jsx';
import { useChanges } from './use-changes.js';
import { WorkspaceChoice } from './workspace-choice.jsx';

export function FilesPanel({ conversation, workspaces }) {
  useChanges(workspaces);
  const workspace = workspaces.current;
  const [path, setPath] = useState(workspace.shownPath);
  useEffect(() => {
    workspace.shownPath = path;
  }, [path]);
  return (
    <div class="files">
      <WorkspaceChoice conversation={conversation} workspaces={workspaces} />
      {workspace.isClosed ? (
        <p class="faint">Its files are shown when you have let the page have them again.</p>
      ) : (
        <>
          <nav aria-label="Files of the workspace" class="tree">
            <FileTree workspace={workspace} opened={path} open={setPath} />
          </nav>
          {workspace.problem && <p class="note bad" role="alert">{workspace.problem}</p>}
          <NewFile workspace={workspace} open={setPath} />
          {path === undefined && <p class="faint">Choose a file to read or change it. The agent works on the same files.</p>}
          {path !== undefined && <Editor key={path} workspace={workspace} path={path} />}
        </>
      )}
    </div>
  );
}

function NewFile({ workspace, open }) {
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState();
  const add = async (event) => {
    event.preventDefault();
    const name = path.trim().replace(/^\/+/, '');
    const isPath = name && name.split('/').every((part) => part && part !== '.' && part !== '..');
    try {
      if (!isPath) throw new Error('A file needs a name such as notes/today.md.');
      if (await workspace.has(name)) throw new Error(`${name} is there already.`);
      await workspace.write(name, '', null);
      setProblem(undefined);
      setPath('');
      open(name);
    } catch (error) {
      setProblem(error.message);
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
