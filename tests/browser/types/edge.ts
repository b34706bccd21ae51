/** The entry for workers, and that for tests. */
import core from 'windlass/core.wasm';
import { LocalObjects, edge } from 'windlass/edge';
import type { EdgeParts, SqliteDatabase } from 'windlass/edge';
import { MemorySessionStore } from 'windlass';
import { ScriptedModel, VirtualClock, checkStore, initTestkit } from 'windlass/testkit';
import testkit from 'windlass/testkit.wasm';

const parts: EdgeParts = {
  module: core,
  authorize: (request) => (request.headers.has('authorization') ? undefined : new Response('who?', { status: 401 })),
  options: (env) => ({ apiKey: env.KEY }),
};
const { handler, SessionObject } = edge(parts);
export { SessionObject };
export default handler;

export async function checked(): Promise<string[]> {
  await initTestkit(testkit);
  const model = await ScriptedModel.load({ exchanges: [{ respond: 'Hello.' }] }, { clock: new VirtualClock() });
  await model.fetch('/v1/messages');
  model.verify();
  const first = new MemorySessionStore();
  return checkStore(() => ({ store: () => first.again() }));
}

declare const database: SqliteDatabase;
const SESSIONS = new LocalObjects(SessionObject, { database, idleMs: 1000 });
const served: Promise<Response> = handler.fetch(new Request('http://localhost/sessions'), { SESSIONS });
void served;
