/** On which files the agent works. */
import { useState } from 'preact/hooks';
import { canPick } from '../model/workspaces.js';

const CHOICES = [
  ['memory', 'The bookshop', 'in the memory of this tab; what changes is kept beside the sessions'],
  ['browser', 'Files in this browser', 'its storage for this page, which no other program sees; at first a copy of the bookshop'],
];

export function WorkspaceChoice({ conversation, workspaces }) {
  const [problem, setProblem] = useState(workspaces.problem);
  const attempt = async (work) => {
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(error.message);
    }
  };
  const use = (id) => attempt(() => conversation.useWorkspace(id));
  const pick = () => attempt(async () => {
    const id = await workspaces.pick();
    if (id) await conversation.useWorkspace(id);
  });
  const { current, directories } = workspaces;
  return (
    <div>
      <details class="workspaces">
        <summary>Workspace: <strong>{current.name}</strong></summary>
        <fieldset>
          <legend>The agent works on</legend>
          {CHOICES.map(([id, name, what]) => <Choice id={id} name={name} what={what} isChosen={current.id === id} use={use} />)}
          {directories.map(({ id, name }) => (
            <div class="row">
              <Choice id={id} name={name} what="a directory on your disk" isChosen={current.id === id} use={use} />
              {current.id !== id && <button aria-label={`Remove ${name} from this list`} onClick={() => workspaces.forget(id)}>Remove</button>}
            </div>
          ))}
          {canPick() ? (
            <p><button onClick={pick}>Pick a directory on your disk</button></p>
          ) : (
            <p class="faint">
              This browser does not let pages work on a directory of your disk (File System Access); those of Chromium’s family do.
            </p>
          )}
          {conversation.entries.length > 0 && <p class="faint">A session keeps its workspace: another one begins a new session.</p>}
        </fieldset>
      </details>
      {problem && <p class="note bad" role="alert">{problem}</p>}
    </div>
  );
}

function Choice({ id, name, what, isChosen, use }) {
  const choose = (event) => {
    // It is chosen when it is open, which may fail.
    event.preventDefault();
    if (!isChosen) use(id);
  };
  return (
    <p>
      <input id={`workspace-${id}`} type="radio" name="workspace" checked={isChosen} onClick={choose} />{' '}
      <label for={`workspace-${id}`}>{name} <small>{what}</small></label>
    </p>
  );
}
