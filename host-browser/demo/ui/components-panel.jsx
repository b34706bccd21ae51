/** Components: dropped, looked at, granted what they may reach, and loaded. */
import { useState } from 'preact/hooks';
import { limitsOf } from '../model/components.js';
import { GrantForm } from './grant-form.jsx';
import { useChanges } from './use-changes.js';

export function ComponentsPanel({ conversation, components, workspace }) {
  useChanges(components, conversation);
  const [offered, setOffered] = useState();
  const [problem, setProblem] = useState();
  const inspect = async (file) => {
    setProblem(undefined);
    setOffered(undefined);
    if (!file) return;
    try {
      setOffered(await components.inspect(file));
    } catch (error) {
      setProblem(error.message);
    }
  };
  return (
    <div class="components">
      {components.missing.map((missing) => (
        <Missing missing={missing} forget={() => components.forget(missing.name)} />
      ))}
      <DropZone take={inspect} />
      {problem && <p class="note bad" role="alert">{problem}</p>}
      {offered && (
        <GrantForm
          key={offered.id}
          offered={offered}
          cwd={workspace.cwd}
          refuse={() => setOffered(undefined)}
          load={async (grant, secrets) => {
            await components.load(offered, grant, secrets);
            setOffered(undefined);
          }}
        />
      )}
      <h3>Loaded</h3>
      {components.loaded.length === 0 && <p class="faint">None but the file tools, which come with the package.</p>}
      <ul class="plain">
        {components.loaded.map((component) => (
          <li class="card">
            <strong>{component.declaration.name}</strong> {component.declaration.version}
            <p class="faint">{granted(component.grant)}. From the next prompt on, until this tab is closed or loaded anew.</p>
            <p class="faint">A call may take {limitsOf(component.declaration).seconds} s.</p>
            <button disabled={conversation.isRunning} onClick={() => components.remove(component)}>Remove {component.declaration.name}</button>
          </li>
        ))}
      </ul>
      <p class="faint">
        Each component runs in a Worker of its own and reaches what you grant it and nothing else. A call that takes too long, or that
        you stop, ends the Worker, and the page goes on; the next call has a new one.
      </p>
    </div>
  );
}

/** One that is gone with the page as it was loaded before. */
function Missing({ missing: { name, secrets }, forget }) {
  return (
    <div class="note">
      <p>
        The page was loaded anew, and keeps no components: drop <strong>{name}</strong> again if you want to go on with it
        {secrets.length > 0 && `, and give it ${secrets.join(' and ')} again: values of secrets are not kept either`}.
      </p>
      <button onClick={forget}>Go on without {name}</button>
    </div>
  );
}

function DropZone({ take }) {
  const [isOver, setIsOver] = useState(false);
  const over = (event, value) => {
    event.preventDefault();
    setIsOver(value);
  };
  return (
    <div
      class={isOver ? 'drop-zone over' : 'drop-zone'}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false);
        take(event.dataTransfer.files[0]);
      }}
    >
      <label for="component">Drop a component (<code>.wasm</code>) here, or choose one:</label>
      <input
        id="component"
        type="file"
        accept=".wasm,application/wasm"
        onChange={({ target }) => {
          take(target.files[0]);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
    </div>
  );
}

function granted({ workspace, directories = {}, roles = {}, http = [], secrets = [], env = {}, state }) {
  const parts = [
    workspace && `the workspace to ${workspace}`,
    ...Object.entries(directories).map(([path, access]) => `${path} to ${access}`),
    ...Object.entries(roles).map(([role, { path, access }]) => `${path} to ${access} as ${role}`),
    ...http.map(({ origin, methods }) => `${methods.join(', ')} to ${origin}`),
    ...secrets.map((name) => `the secret ${name}`),
    ...Object.keys(env).map((name) => `the variable ${name}`),
    state && 'memory of the session',
  ].filter(Boolean);
  return parts.length === 0 ? 'Granted nothing' : `Granted ${parts.join(', ')}`;
}
