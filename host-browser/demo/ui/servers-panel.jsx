/** MCP servers: added by the person, with what they answer and offer. */
import { useState } from 'preact/hooks';
import { visible } from '../model/tool-input.js';
import { useChanges } from './use-changes.js';

const STATES = {
  pending: { text: 'connecting', tone: '' },
  connected: { text: 'connected', tone: 'good' },
  failed: { text: 'failed', tone: 'bad' },
  'needs-auth': { text: 'needs authorization', tone: 'bad' },
  'needs-header': { text: 'needs its header', tone: 'bad' },
};

export function ServersPanel({ conversation, servers }) {
  useChanges(servers);
  return (
    <div class="servers">
      <p class="faint">
        Servers that speak the Model Context Protocol over HTTP. Sessions have their tools from the next prompt on, and each call of one is
        asked about.
      </p>
      <AddServer servers={servers} />
      <h3>Added</h3>
      {servers.all.length === 0 && <p class="faint">None yet.</p>}
      <ul class="plain">
        {servers.all.map((server) => (
          <li class="card" key={server.name}>
            <Server conversation={conversation} servers={servers} server={server} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const EMPTY = { name: '', url: '', header: '', value: '' };

function AddServer({ servers }) {
  const [given, setGiven] = useState(EMPTY);
  const [problem, setProblem] = useState();
  const add = (event) => {
    event.preventDefault();
    try {
      const trimmed = Object.entries(given).map(([field, text]) => [field, text.trim()]);
      servers.add(Object.fromEntries(trimmed));
      setGiven(EMPTY);
      setProblem(undefined);
    } catch (error) {
      setProblem(error.message);
    }
  };
  const field = (name, label, more) => (
    <p>
      <label for={`server-${name}`}>{label}</label>
      <input
        id={`server-${name}`}
        value={given[name]}
        autocomplete="off"
        spellcheck={false}
        onInput={({ target }) => setGiven({ ...given, [name]: target.value })}
        {...more}
      />
    </p>
  );
  return (
    <form onSubmit={add} aria-label="Add a server">
      <fieldset>
        <legend>Add a server</legend>
        {field('name', 'Name, which its tools begin with', { placeholder: 'docs' })}
        {field('url', 'Address of the server', { placeholder: 'https://docs.example.com/mcp', inputMode: 'url' })}
        {field('header', 'A header that it wants (empty: none)', { placeholder: 'Authorization' })}
        {given.header && field('value', 'Value of the header', { type: 'password', placeholder: 'Bearer …' })}
        {given.header && (
          <p class="faint">
            The value stays in the memory of this tab, is sent to this address and nowhere else, and is gone when the tab is closed or
            loaded again.
          </p>
        )}
        {problem && <p class="note bad" role="alert">{problem}</p>}
        <button class="primary">Add</button>
      </fieldset>
    </form>
  );
}

function Server({ conversation, servers, server }) {
  const { name, url, status, error, info, tools } = server;
  const { text, tone } = STATES[status];
  const connect = async () => {
    // What comes of it is in the status of the server.
    if (!(await conversation.reconnect(name).catch(() => true))) await servers.check(server);
  };
  return (
    <>
      <p class="row">
        <strong>{name}</strong> <span class={`badge ${tone}`} role="status">{text}</span>
        {info?.name && <span class="faint">{visible(info.name)} {visible(info.version ?? '')}</span>}
      </p>
      <p class="faint"><code>{url}</code></p>
      {error && <p class="note bad">{visible(error)}</p>}
      {status === 'needs-header' && <HeaderAgain servers={servers} server={server} />}
      {tools && <ServerTools server={name} tools={tools} />}
      <div class="row">
        {status !== 'needs-header' && (
          <button disabled={status === 'pending'} aria-label={`Connect again to ${name}`} onClick={connect}>Connect again</button>
        )}
        <button aria-label={`Remove the server ${name}`} onClick={() => servers.remove(server)}>Remove</button>
      </div>
    </>
  );
}

function HeaderAgain({ servers, server }) {
  const [value, setValue] = useState('');
  const [problem, setProblem] = useState();
  const submit = (event) => {
    event.preventDefault();
    try {
      servers.authorize(server, value.trim());
    } catch (error) {
      setProblem(error.message);
    }
  };
  const id = `header-of-${server.name}`;
  return (
    <form onSubmit={submit}>
      <label for={id}>Value of <code>{server.header}</code>, which was not kept</label>
      <div class="row">
        <input id={id} type="password" autocomplete="off" value={value} onInput={({ target }) => setValue(target.value)} />
        <button class="primary">Connect</button>
      </div>
      {problem && <p class="note bad" role="alert">{problem}</p>}
    </form>
  );
}

/** Tools of a server that are listed, and characters of what it says of each: a server can say any amount. */
const MOST_TOOLS = 200;
const MOST_SAID = 500;

function ServerTools({ server, tools }) {
  return (
    <details class="tools">
      <summary>{tools.length} {tools.length === 1 ? 'tool' : 'tools'}</summary>
      <ul>
        {tools.slice(0, MOST_TOOLS).map(({ name, description = '', annotations = {} }) => (
          <li>
            <code>mcp__{server}__{visible(name)}</code>
            {annotations.readOnlyHint && <small> (says that it only reads)</small>}
            {description && <p>{shortened(visible(description))}</p>}
          </li>
        ))}
        {tools.length > MOST_TOOLS && <li>and {tools.length - MOST_TOOLS} more</li>}
      </ul>
    </details>
  );
}

function shortened(text) {
  return text.length > MOST_SAID ? `${text.slice(0, MOST_SAID)}…` : text;
}
