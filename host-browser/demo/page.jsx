/** Starts the page. With `?fast` the scripted model answers without pauses. */
import { render } from 'preact';
import { IndexedDbSessionStore, init, listSessions, MemorySessionStore } from 'windlass';
import { Components } from './model/components.js';
import { Conversation } from './model/conversation.js';
import { Database } from './model/database.js';
import { KeptPage } from './model/kept-page.js';
import { Servers } from './model/servers.js';
import { Settings } from './model/settings.js';
import { Workspaces } from './model/workspaces.js';
import { App } from './ui/app.jsx';

const root = document.querySelector('#page');

async function start() {
  const fast = new URLSearchParams(location.search).has('fast');
  const settings = new Settings();
  // Before anything is drawn.
  document.documentElement.dataset.theme = settings.theme;
  const [bundle, database, { sessionStore, unkept }] = await Promise.all([bundled(), Database.open(), opened(), init()]);
  const workspaces = await Workspaces.open({ database, settings, bundle });
  const components = new Components();
  const servers = new Servers(settings);
  const keptPage = new KeptPage();
  const conversation = new Conversation({ settings, workspaces, database, components, servers, sessionStore, bundle, fast });
  conversation.addEventListener('change', () => remember(conversation.id));
  const parts = {
    conversation,
    settings,
    workspaces,
    components,
    servers,
    keptPage,
    unkept,
    listSessions: () => listSessions({ sessionStore }),
    async removeSession(id) {
      await sessionStore.delete(id);
      await database.deleteSession(id);
    },
  };
  const id = new URLSearchParams(location.hash.slice(1)).get('session');
  if (id && (await sessionStore.list()).some((kept) => kept.id === id)) await conversation.open(id);
  // A file that misses the drop zone does not replace the page.
  for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault());
  root.replaceChildren();
  render(<App {...parts} />, root);
  // Nobody waits for it, and it takes nothing from the start.
  keptPage.keep();
}

async function bundled() {
  const answer = await fetch('bundle.json');
  if (!answer.ok) throw new Error(`bundle.json is not there (${answer.status})`);
  return answer.json();
}

/** The sessions of this browser, or of this tab where the browser keeps nothing. */
async function opened() {
  try {
    return { sessionStore: await IndexedDbSessionStore.open() };
  } catch (error) {
    const unkept = `This browser does not let the page keep anything, so sessions and files last as long as this tab: ${error.message}`;
    return { sessionStore: new MemorySessionStore(), unkept };
  }
}

/** The session stands in the address, so that the tab has it again when it is loaded anew. */
function remember(id) {
  const hash = id ? `#session=${id}` : '';
  if (location.hash !== hash) history.replaceState(undefined, '', `${location.pathname}${location.search}${hash}`);
}

start().catch((error) => {
  const said = document.createElement('p');
  said.setAttribute('role', 'alert');
  said.className = 'note bad';
  const needs = 'It needs a browser of the last years with WebAssembly, and all of its files beside it.';
  said.textContent = `The page cannot start: ${error.message}. ${needs}`;
  root.replaceChildren(said);
  throw error;
});
