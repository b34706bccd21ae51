/** Sessions in the edge runtime, as those who have them see them. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Model } from './model.js';
import { Workerd, workerdProgram } from './workerd.js';

const directory = process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../../target/browser', import.meta.url));

/** Elsewhere npm has none; where it has one, a test without it would show nothing. */
export const skip = ['linux', 'darwin'].includes(process.platform) ? false : 'there is no workerd for this platform';

let model;
let workerd;

/** Starts the runtime, and the server of its model; gives both. */
export async function begin() {
  assert.ok(workerdProgram(), 'workerd is not installed: `cargo xtask setup` installs it');
  model = await Model.start();
  return { model, workerd: await renew() };
}

/** Starts a runtime that knows nothing yet, in place of the one that there is. */
export async function renew({ v8Flags = [] } = {}) {
  await workerd?.remove();
  workerd = new Workerd({
    directory,
    worker: 'worker.js',
    texts: { MODEL: model.url },
    objects: { SESSIONS: 'SessionObject', IMPATIENT: 'ImpatientObject', PATIENT: 'PatientObject', CHECK: 'StoreCheck' },
    v8Flags,
  });
  await workerd.start();
  return workerd;
}

export async function end() {
  await workerd?.remove();
  await model?.stop();
}

export function request(path, { body, ...init } = {}) {
  const headers = { authorization: 'Bearer visitor', ...init.headers };
  return fetch(`${workerd.url}${path}`, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), ...init, headers });
}

/** The events of a stream, as they come. */
export async function* events(response) {
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [event, data] = text.slice(0, end).split('\n').map((line) => line.slice(line.indexOf(':') + 2));
      text = text.slice(end + 2);
      if (!event) continue; // a comment: the stream is alive
      yield { event, data: JSON.parse(data) };
    }
  }
}

/** Asks, and gives the id of the session and the result. */
export async function ask(prompt, session) {
  const response = await request(session ? `/sessions/${session}` : '/sessions', { body: { prompt } });
  assert.equal(response.status, 200, response.status === 200 ? '' : await response.text());
  let result;
  for await (const { event, data } of events(response)) {
    assert.notEqual(event, 'error', JSON.stringify(data));
    if (data.type === 'result') result = data;
  }
  return { id: response.headers.get('windlass-session'), result };
}

/** What the model was sent last, as texts. */
export function sent() {
  const { messages } = model.requests.at(-1).body;
  return messages.map(({ role, content }) => {
    const texts = typeof content === 'string' ? [content] : content.map(({ text, type }) => text ?? type);
    return `${role}: ${texts.join(' ')}`;
  });
}

export async function lines(id) {
  const response = await request(`/sessions/${id}`);
  return (await response.text()).trimEnd().split('\n');
}

/** Asks, reads until questions and results are there, and ends the runtime; gives the id of the session and the questions. */
export async function leaveAsking(prompt, { questions: count = 1, results = 0, ran = 0 } = {}) {
  const response = await request('/sessions', { body: { prompt } });
  const id = response.headers.get('windlass-session');
  const asked = events(response);
  const questions = [];
  let seen = 0;
  while (questions.length < count || seen < results) {
    const { event, data } = (await asked.next()).value;
    if (event === 'permission') questions.push(data);
    if (data.type === 'user') seen += 1;
  }
  await model.hasRun(ran);
  await workerd.kill();
  await asked.return().catch(() => {});
  await workerd.start();
  return { id, questions };
}

/** Answers a question; gives all events that follow. */
export async function answer(id, { toolUseID }, decision) {
  const answered = await request(`/sessions/${id}/answer`, { body: { toolUseID, ...decision } });
  assert.equal(answered.status, 200, answered.status === 200 ? '' : await answered.text());
  assert.equal(answered.headers.get('windlass-session'), id);
  const seen = [];
  for await (const { event, data } of events(answered)) seen.push(event === 'message' ? data : { event, ...data });
  return seen;
}
