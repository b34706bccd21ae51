/** What a component asks for, and what the person gives it: nothing, unless they say so. */
import { useState } from 'preact/hooks';
import { limitsOf } from '../model/components.js';
import { visible } from '../model/tool-input.js';
import { NOTHING, NetworkFields, askedRequests, networkGrant } from './network-fields.jsx';

export function GrantForm({ offered: { name, declaration }, cwd, load, refuse }) {
  const asked = declaration.grants ?? {};
  const [given, setGiven] = useState({ workspace: 'none', directory: '', state: false, env: {}, roles: {}, ...NOTHING });
  const [problem, setProblem] = useState();
  const [isLoading, setIsLoading] = useState(false);
  const give = (changes) => setGiven({ ...given, ...changes });
  const submit = async (event) => {
    event.preventDefault();
    setIsLoading(true);
    setProblem(undefined);
    try {
      const { http, secrets } = networkGrant(given, asked);
      await load({ ...grantOf(given, asked, cwd), http, secrets: [...secrets.keys()] }, secrets);
    } catch (error) {
      setIsLoading(false);
      setProblem(error.message);
    }
  };
  return (
    <form class="grant card" aria-labelledby="grant-title" onSubmit={submit}>
      <h3 id="grant-title">{declaration.name ?? name} asks</h3>
      <Declared declaration={declaration} />
      <fieldset>
        <legend>You grant</legend>
        <Files asked={asked} given={given} give={give} cwd={cwd} />
        {(asked.directories ?? []).map((role) => <Role role={role} given={given} give={give} />)}
        <NetworkFields asked={asked} given={given} give={give} />
        {(asked.env ?? []).map((variable) => (
          <p>
            <label for={`env-${variable}`}>Value of the variable <code>{variable}</code></label>
            <input
              id={`env-${variable}`}
              value={given.env[variable] ?? ''}
              onInput={({ target }) => give({ env: { ...given.env, [variable]: target.value } })}
            />
          </p>
        ))}
        {(asked.state ?? 'none') !== 'none' && (
          <p>
            <input id="grant-state" type="checkbox" checked={given.state} onChange={({ target }) => give({ state: target.checked })} />{' '}
            <label for="grant-state">It may remember something until the session ends</label>
          </p>
        )}
        {asksNothing(asked) && <p class="faint">It asks for nothing that could be granted.</p>}
      </fieldset>
      {problem && <p class="note bad" role="alert">{problem}</p>}
      <div class="row">
        <button class="primary" disabled={isLoading}>{isLoading ? 'Loading…' : 'Load with this grant'}</button>
        <button type="button" onClick={refuse}>Do not load</button>
      </div>
    </form>
  );
}

function Declared({ declaration }) {
  const { tools = [], hooks = [], grants = {} } = declaration;
  const { seconds, mebibytes } = limitsOf(declaration);
  return (
    <ul>
      {tools.map(({ name, description }) => <li>a tool <code>{name}</code>: {description}</li>)}
      {hooks.map(({ name, kind, event, matcher }) => (
        <li>a hook <code>{name}</code>, {kind} of {event}{matcher && <> for <code>{matcher}</code></>}</li>
      ))}
      {(grants.filesystem ?? 'none') !== 'none' && <li>files, to {grants.filesystem}</li>}
      {askedRequests(grants).map(({ origin, methods }) => <li>requests to <code>{origin}</code>: {methods.join(', ')}</li>)}
      {(grants.secrets ?? []).map(({ name, description }) => <li>the secret <code>{name}</code>: {visible(description)}</li>)}
      <li>at most {seconds} s for a call, then its Worker is ended, and {mebibytes} MiB for each of its memories</li>
    </ul>
  );
}

function Files({ asked: { filesystem = 'none' }, given, give, cwd }) {
  if (filesystem === 'none') return undefined;
  return (
    <>
      <p>
        <label for="grant-workspace">The workspace, for its tools, where rules let them</label>
        <select id="grant-workspace" value={given.workspace} onChange={({ target }) => give({ workspace: target.value })}>
          <option value="none">not at all</option>
          <option value="read">to read</option>
          {filesystem === 'write' && <option value="write">to read and write</option>}
        </select>
      </p>
      <p>
        <label for="grant-directory">A directory for its hooks and tools, without being asked (empty: none)</label>
        <input
          id="grant-directory"
          value={given.directory}
          placeholder={`${cwd}/log`}
          onInput={({ target }) => give({ directory: target.value })}
        />
      </p>
    </>
  );
}

function Role({ role: { role, access, description }, given, give }) {
  return (
    <p>
      <label for={`role-${role}`}>A directory to {access} as <code>{role}</code>: {description}</label>
      <input
        id={`role-${role}`}
        value={given.roles[role] ?? ''}
        onInput={({ target }) => give({ roles: { ...given.roles, [role]: target.value } })}
      />
    </p>
  );
}

function asksNothing({ filesystem = 'none', directories = [], http = [], env = [], state = 'none' }) {
  return filesystem === 'none' && directories.length + http.length + env.length === 0 && state === 'none';
}

/** The grant as `Plugin` takes it, without requests and secrets: what was left empty is not in it. */
function grantOf({ workspace, directory, state, env, roles }, asked, cwd) {
  const absolute = (path) => (path.startsWith('/') ? path : `${cwd}/${path}`);
  const said = (entries) => entries.filter(([, value]) => value.trim() !== '');
  const access = (role) => asked.directories.find((other) => other.role === role).access;
  return {
    ...(workspace === 'none' ? {} : { workspace }),
    ...(directory.trim() ? { directories: { [absolute(directory.trim())]: asked.filesystem } } : {}),
    ...(state ? { state } : {}),
    env: Object.fromEntries(said(Object.entries(env))),
    roles: Object.fromEntries(said(Object.entries(roles)).map(([role, path]) => [role, { path: absolute(path.trim()), access: access(role) }])),
  };
}
