/** Settings: the model and its key, the permissions, the shell, the workspace; and whether the page needs a network. */
import { useState } from 'preact/hooks';
import { useChanges } from './use-changes.js';

const MODES = [
  ['default', 'Ask about what no rule covers'],
  ['acceptEdits', 'Accept changes of files in the workspace'],
  ['plan', 'Plan: read, change nothing'],
  ['dontAsk', 'Never ask: refuse what no rule covers'],
];

export function SettingsPanel({ settings, workspace, keptPage }) {
  useChanges(settings);
  const { mode, rules } = settings.permissionsOn(workspace.id);
  return (
    <div class="settings">
      <Model settings={settings} />
      <fieldset>
        <legend>Permissions</legend>
        <p>
          <label for="mode">Mode</label>
          <select id="mode" value={mode} onChange={({ target }) => settings.setMode(workspace.id, target.value)}>
            {MODES.map(([name, text]) => <option value={name}>{text}</option>)}
          </select>
        </p>
        <p>
          <input
            id="hook"
            type="checkbox"
            checked={settings.protectsTests}
            onChange={({ target }) => settings.set({ protectsTests: target.checked })}
          />{' '}
          <label for="hook">A hook refuses changes below <code>tests/</code></label>
        </p>
        <h3>Rules that you allowed always</h3>
        {rules.length === 0 && <p class="faint">None. A question offers the rule that it would write.</p>}
        <ul class="plain">
          {rules.map((rule) => (
            <li class="row">
              <code>{rule}</code>{' '}
              <button onClick={() => settings.forget(workspace.id, rule)} aria-label={`Remove the rule ${rule}`}>Remove</button>
            </li>
          ))}
        </ul>
        <p class="faint">The mode and the rules hold on the files of {workspace.name}; another workspace has its own.</p>
      </fieldset>
      <fieldset>
        <legend>Shell</legend>
        <p>
          <input id="shell" type="checkbox" checked={settings.hasShell} onChange={({ target }) => settings.set({ hasShell: target.checked })} />{' '}
          <label for="shell">Bash</label>
        </p>
        <p class="faint">
          It is <a href="https://www.npmjs.com/package/just-bash" rel="noopener noreferrer">just-bash</a>, a shell in this tab over the files
          of the workspace: without network, without programs, without an operating system. It starts with the first session that has it.
        </p>
      </fieldset>
      <fieldset>
        <legend>Workspace</legend>
        {workspace.hasBookshop ? (
          <Reset workspace={workspace} />
        ) : (
          <p class="faint">The files of <code>{workspace.name}</code> are yours: the page changes what you allow and puts nothing back.</p>
        )}
      </fieldset>
      <fieldset>
        <legend>Without a network</legend>
        <Kept keptPage={keptPage} />
      </fieldset>
    </div>
  );
}

function Kept({ keptPage }) {
  useChanges(keptPage);
  const { build, problem } = keptPage;
  if (problem) return <p class="faint">The page as it is now needs a network. {problem}</p>;
  if (build) return <p class="faint">This browser keeps the page (build {build}): with the script it works without a network.</p>;
  return <p class="faint">The rest of the page is being loaded, so that it works without a network.</p>;
}

function Model({ settings }) {
  const isScripted = settings.model === 'scripted';
  return (
    <fieldset>
      <legend>Model</legend>
      <p>
        <input
          id="scripted"
          type="radio"
          name="model"
          checked={isScripted}
          onChange={() => settings.set({ model: 'scripted' })}
        />{' '}
        <label for="scripted">A script, without a network</label>
      </p>
      <p>
        <input
          id="endpoint"
          type="radio"
          name="model"
          checked={!isScripted}
          onChange={() => settings.set({ model: 'endpoint' })}
        />{' '}
        <label for="endpoint">A server that speaks the Messages API</label>
      </p>
      {!isScripted && <Endpoint settings={settings} />}
      <p class="faint">Settings hold from the next prompt on.</p>
    </fieldset>
  );
}

function Endpoint({ settings }) {
  const [key, setKey] = useState(settings.apiKey);
  return (
    <>
      <p>
        <label for="base-url">Address</label>
        <input id="base-url" type="url" value={settings.baseUrl} onInput={({ target }) => settings.set({ baseUrl: target.value.trim() })} />
      </p>
      <p>
        <label for="model-name">Model</label>
        <input id="model-name" value={settings.modelName} onInput={({ target }) => settings.set({ modelName: target.value.trim() })} />
      </p>
      <p>
        <label for="key">Your key (empty where a server of yours adds it)</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          value={key}
          onInput={({ target }) => {
            setKey(target.value);
            settings.apiKey = target.value.trim();
            settings.changed();
          }}
        />
      </p>
      <p>
        <label for="budget">What a session may cost, in US dollars</label>
        <input
          id="budget"
          type="number"
          min={0}
          step="any"
          value={settings.budget}
          onInput={({ target }) => target.value > 0 && settings.set({ budget: Number(target.value) })}
        />
      </p>
      <p class="faint">
        The key stays in the memory of this tab, is sent to this address and nowhere else, and is gone when the tab is closed or loaded
        again. Files of the workspace that the model reads are sent there, too.
      </p>
    </>
  );
}

function Reset({ workspace }) {
  const [done, setDone] = useState({});
  const reset = () => workspace.reset().then(() => setDone({ said: 'They are as they were.' }), ({ message }) => setDone({ problem: message }));
  return (
    <>
      <p class="row">
        <button onClick={reset}>Put the files of the demonstration back</button>
        <span role="status">{done.said}</span>
      </p>
      {done.problem && <p class="note bad" role="alert">{done.problem}</p>}
    </>
  );
}
