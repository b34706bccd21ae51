/** Sessions in the browser's own storage. Each part gives what a test compares; all run in a page. */

/** An agent over the sessions of this origin, whose model follows these exchanges. */
async function agentOf({ windlass, testkit }, exchanges, options) {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges }, { clock });
  const requests = [];
  const fetch = (url, request) => {
    requests.push(JSON.parse(new TextDecoder().decode(request.body)));
    return model.fetch(url, request);
  };
  return { agent: new windlass.Agent({ fetch, clock, ...options }), requests };
}

/** What is broken of the contract of stores. */
export function contract({ windlass, testkit }) {
  return testkit.checkStore(() => {
    const name = crypto.randomUUID();
    return { store: () => windlass.IndexedDbSessionStore.open(name) };
  });
}

/** Before the page is loaded again: a session, whose id it gives. */
export async function begin(parts) {
  const sessionStore = await parts.windlass.IndexedDbSessionStore.open();
  const { agent } = await agentOf(parts, [{ respond: 'Noted.' }], { sessionStore });
  const session = agent.session();
  await session.prompt('My number is 7.').result();
  // The page goes away in the middle of the session: nothing is closed.
  return session.id();
}

/** After it was loaded again: what the model is sent when the session goes on. */
export async function goOn(parts, id) {
  const sessionStore = await parts.windlass.IndexedDbSessionStore.open();
  const { agent, requests } = await agentOf(parts, [{ respond: '7.' }], { sessionStore, resume: id });
  const { session_id: same, result } = await agent.run('Which number?');
  const listed = await sessionStore.list();
  sessionStore.close();
  return { isSame: same === id, result, sent: texts(requests[0]), listed: listed.map((kept) => kept.id === id) };
}

/** Two tabs on one session: the second is told, and has it when the first is closed. */
export async function twoTabs(parts, id) {
  const other = document.createElement('iframe');
  other.src = new URL(`sessions-tab.html#${id}`, location.href);
  const isOpen = new Promise((resolve) => addEventListener('message', resolve, { once: true }));
  document.body.append(other);
  await isOpen;
  const sessionStore = await parts.windlass.IndexedDbSessionStore.open();
  const attempt = async () => {
    const { agent } = await agentOf(parts, [{ respond: 'Mine.' }], { sessionStore, resume: id });
    return agent.run('Mine?').then(({ result }) => result, (error) => error.message);
  };
  const whileOpen = await attempt();
  other.remove();
  let afterwards = await attempt();
  // The browser ends the locks of a page that is gone in its own time.
  for (let tries = 0; afterwards !== 'Mine.' && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    afterwards = await attempt();
  }
  return { whileOpen, afterwards };
}

/** The other tab: goes on with a session and keeps it. */
export async function holdSession(parts, id) {
  const sessionStore = await parts.windlass.IndexedDbSessionStore.open();
  const { agent } = await agentOf(parts, [{ respond: 'Here.' }], { sessionStore, resume: id });
  await agent.session().prompt('Here?').result();
}

/** Storage that is full: the answer is told as not kept. */
export async function full(parts) {
  const sessionStore = await parts.windlass.IndexedDbSessionStore.open();
  const { agent } = await agentOf(parts, [{ respond: 'Here.' }], { sessionStore });
  const { put } = IDBObjectStore.prototype;
  IDBObjectStore.prototype.put = function refuse() {
    throw new DOMException('no room', 'QuotaExceededError');
  };
  try {
    const { errors } = await agent.run('Begin.').catch((error) => ({ errors: [error.message] }));
    return errors;
  } finally {
    IDBObjectStore.prototype.put = put;
  }
}

function texts({ messages }) {
  return messages.map(({ role, content }) => `${role}: ${typeof content === 'string' ? content : content.map(({ text }) => text).join()}`);
}
