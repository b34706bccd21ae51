/** Sessions that are kept. */
import {
  DurableObjectSessionStore,
  IndexedDbSessionStore,
  MemorySessionStore,
  StoreError,
  deleteSession,
  forkSession,
  getSessionInfo,
  getSessionMessages,
  getSubagentMessages,
  listSessions,
  renameSession,
  tagSession,
} from 'windlass';
import type { InStore, Page, SessionInfo, SessionMessage, SessionSnapshot, SessionStore } from 'windlass';

export async function kept(storage: object): Promise<SessionMessage[]> {
  const stores: SessionStore[] = [
    new MemorySessionStore().again(),
    await IndexedDbSessionStore.open('name'),
    new DurableObjectSessionStore(storage),
  ];
  const sessionStore = stores[0] ?? new MemorySessionStore();
  const where: InStore & Page = { sessionStore, limit: 10, offset: 0 };
  const listed: SessionInfo[] = await listSessions(where);
  const { sessionId } = await forkSession('id', { sessionStore, upToMessageId: 'id', title: 'Copy' });
  const info: SessionInfo | undefined = await getSessionInfo(sessionId, { sessionStore });
  await renameSession(sessionId, info?.tag ?? listed[0]?.summary ?? 'Title', { sessionStore });
  await tagSession(sessionId, null, { sessionStore });
  await getSubagentMessages(sessionId, 'id', where);
  const snapshot: SessionSnapshot = { sessionId, messageId: 'id', transcript: '' };
  try {
    await deleteSession(snapshot.sessionId, { sessionStore });
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'busy') console.log(error.message);
  }
  // @ts-expect-error where the sessions are has to be said
  await listSessions();
  return getSessionMessages(sessionId, { sessionStore, includeSystemMessages: true });
}
