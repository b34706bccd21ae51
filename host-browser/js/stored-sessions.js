/** The sessions of a store: lists, what was said in them, and what is done with those that nobody has open. */
import { StoreError } from './session-store.js';
import { forked, init, summary } from './wasm.js';

/** How many sessions are listed when nothing else is said. */
const LISTED = 100;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Lists sessions, those that were written to last first.
 *
 * @param {{ sessionStore: object, limit?: number, offset?: number }} options
 */
export async function listSessions(options) {
  const { sessionStore, limit = LISTED, offset = 0 } = checked('listSessions', options, ['limit', 'offset']);
  await init();
  const kept = (await sessionStore.list()).slice(offset, offset + limit);
  return Promise.all(kept.map(async ({ id, modified }) => infoOf(id, modified, await sessionStore.load(id))));
}

/** What a list shows of one session; `undefined` if nothing is kept of it. */
export async function getSessionInfo(sessionId, options) {
  const { sessionStore } = checked('getSessionInfo', options);
  await init();
  const stored = await sessionStore.load(sessionId);
  const listed = (await sessionStore.list()).find(({ id }) => id === sessionId);
  return stored && listed && infoOf(sessionId, listed.modified, stored);
}

/** The messages of a session in their order, as they are when it goes on; none if nothing is kept of it. */
export async function getSessionMessages(sessionId, options) {
  const { sessionStore, ...page } = checked('getSessionMessages', options, ['limit', 'offset', 'includeSystemMessages']);
  await init();
  const { text } = (await sessionStore.load(sessionId)) ?? { text: '' };
  return pageOf(forked(sessionId, text, sessionId).map((line) => JSON.parse(line)), page);
}

/** The same for a subagent, which has a transcript of its own. */
export async function getSubagentMessages(sessionId, agentId, options) {
  const { sessionStore, ...page } = checked('getSubagentMessages', options, ['limit', 'offset']);
  const { text } = (await sessionStore.load(sessionId, agentId)) ?? { text: '' };
  return pageOf([...entries(text)], page);
}

/** Gives a session a title. */
export async function renameSession(sessionId, title, options) {
  const { sessionStore } = checked('renameSession', options);
  await appendTo(sessionStore, sessionId, titleLine(sessionId, title));
}

/** Gives a session a tag; `null` takes it away. */
export async function tagSession(sessionId, tag, options) {
  const { sessionStore } = checked('tagSession', options);
  if (tag !== null && (typeof tag !== 'string' || tag.trim() === '')) {
    throw new Error('tagSession: a tag is a text that is not empty, or `null` for none');
  }
  await appendTo(sessionStore, sessionId, JSON.stringify({ type: 'tag', tag: tag?.trim() ?? '', sessionId }));
}

/** Deletes a session with all that is kept for it. */
export async function deleteSession(sessionId, options) {
  const { sessionStore } = checked('deleteSession', options);
  await sessionStore.delete(sessionId);
}

/**
 * Copies the conversation of a session, up to a message or to its end, to a new session.
 *
 * @param {string} sessionId
 * @param {{ sessionStore: object, upToMessageId?: string, title?: string }} options
 * @returns {Promise<{ sessionId: string }>}
 */
export async function forkSession(sessionId, options) {
  const { sessionStore, upToMessageId, title } = checked('forkSession', options, ['upToMessageId', 'title']);
  await init();
  const stored = await sessionStore.load(sessionId);
  if (!stored) throw new StoreError('unknown', `nothing is kept of a session ${sessionId}`);
  const fork = crypto.randomUUID();
  const called = title ?? `${JSON.parse(summary(stored.text)).summary} (fork)`;
  await keep(sessionStore, fork, [...forked(sessionId, stored.text, fork, upToMessageId), titleLine(fork, called)]);
  return { sessionId: fork };
}

/** The turn in which a session was when it was last open, if it can go on. */
export async function unfinishedTurn(sessionId, options) {
  const { sessionStore } = checked('unfinishedTurn', options);
  const stored = await sessionStore.load(sessionId);
  if (!stored?.snapshot?.isCurrent) return undefined;
  const prompts = [...entries(stored.text)].filter(isPrompt);
  const { message, uuid, timestamp } = prompts.at(-1) ?? {};
  return { prompt: message?.content, uuid, askedAt: Date.parse(timestamp) };
}

function isPrompt({ type, isMeta, isSidechain, message }) {
  const isResult = (block) => block.type === 'tool_result';
  return type === 'user' && !isMeta && !isSidechain && !(Array.isArray(message.content) && message.content.some(isResult));
}

/** The text of a transcript, and the last message of its conversation. */
export function snapshotOf(sessionId, transcript) {
  const last = forked(sessionId, transcript, sessionId).at(-1);
  return { sessionId, messageId: last && JSON.parse(last).uuid, transcript };
}

/** What a snapshot says, if it is one: it may come from anywhere. */
export function checkedSnapshot(snapshot) {
  const { sessionId, messageId, transcript } = snapshot ?? {};
  if (!UUID.test(sessionId)) throw notOne('its `sessionId` is no UUID');
  if (typeof transcript !== 'string') throw notOne('its `transcript` is no text');
  if (messageId !== undefined && typeof messageId !== 'string') throw notOne('its `messageId` is no text');
  const lines = transcript.split('\n').filter(Boolean);
  const wrong = lines.findIndex((line) => !isEntry(line));
  if (wrong >= 0) throw notOne(`line ${wrong + 1} of its \`transcript\` is no entry of a session`);
  if (lines.length === 0) throw notOne('its `transcript` is empty');
  return { sessionId, messageId, lines };
}

function isEntry(line) {
  try {
    return typeof JSON.parse(line)?.type === 'string';
  } catch {
    return false;
  }
}

function notOne(reason) {
  return new Error(`this is no snapshot of a session: ${reason}`);
}

/** Keeps the lines of a new session. */
export async function keep(sessionStore, sessionId, lines) {
  await leased(sessionStore, sessionId, await sessionStore.create(sessionId), lines);
}

async function appendTo(sessionStore, sessionId, line) {
  await leased(sessionStore, sessionId, await sessionStore.open(sessionId), [line]);
}

async function leased(sessionStore, sessionId, epoch, lines) {
  try {
    await sessionStore.append(sessionId, epoch, undefined, lines);
  } finally {
    sessionStore.release(sessionId, epoch);
  }
}

function titleLine(sessionId, title) {
  if (typeof title !== 'string' || title.trim() === '') throw new Error('the title of a session is a text that is not empty');
  return JSON.stringify({ type: 'custom-title', customTitle: title.trim(), sessionId });
}

function infoOf(sessionId, lastModified, stored) {
  const text = stored?.text ?? '';
  const said = { tag: undefined, cwd: undefined, createdAt: undefined };
  for (const entry of entries(text)) {
    if (entry.type === 'tag') said.tag = entry.tag || undefined;
    said.cwd ??= entry.cwd;
    if (entry.timestamp) said.createdAt ??= Date.parse(entry.timestamp);
  }
  const known = Object.entries(said).filter(([, value]) => value !== undefined);
  return { sessionId, lastModified, ...JSON.parse(summary(text)), ...Object.fromEntries(known) };
}

/** The lines of a transcript; those that are no JSON are passed over, as where a session goes on. */
function* entries(text) {
  for (const line of text.split('\n')) {
    try {
      if (line) yield JSON.parse(line);
    } catch {
      // Half a line, where a program ended in the middle of it.
    }
  }
}

function pageOf(lines, { limit = Infinity, offset = 0, includeSystemMessages = false }) {
  const types = includeSystemMessages ? ['user', 'assistant', 'system'] : ['user', 'assistant'];
  const messages = lines.filter(({ type, isMeta }) => types.includes(type) && !isMeta);
  return messages.slice(offset, offset + limit).map(({ type, uuid, sessionId, message, content }) => ({
    type,
    uuid,
    session_id: sessionId,
    message: message ?? content,
    parent_tool_use_id: null,
    parent_agent_id: null,
  }));
}

/** The options of a function, which has to know the store that it works on. */
function checked(name, options = {}, others = []) {
  const unknown = Object.keys(options).find((option) => option !== 'sessionStore' && !others.includes(option));
  if (unknown !== undefined) throw new Error(`${name}: \`${unknown}\` has no meaning here, where sessions are in a store`);
  if (!options.sessionStore) throw new Error(`${name}: \`sessionStore\` says where the sessions are`);
  return options;
}
