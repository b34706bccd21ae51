/** The handler of the edge in Node, as the guide prints it: sessions in a database of SQLite, whose process is killed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Model } from './edge/model.js';
import { load } from './package-under-test.js';
import { printedFiles } from './package/printed.js';
import { startService } from './package/service.js';

const directory = process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../target/browser', import.meta.url));
/** One with `node:sqlite`. */
const node = process.env.WINDLASS_NEWER_NODE ?? process.execPath;

const folder = mkdtempSync(join(tmpdir(), 'windlass-edge-node-'));
let model;
let served;

before(async () => {
  model = await Model.start();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(directory, join(folder, 'node_modules/windlass'));
  mkdirSync(join(folder, 'node_modules/@hono'));
  symlinkSync(fileURLToPath(new URL('../', import.meta.resolve('@hono/node-server'))), join(folder, 'node_modules/@hono/node-server'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { 'agents.js': agents, 'server.js': server } = printedFiles('docs/edge.md');
  const tools = `import { tool } from 'windlass';
const note = tool('Note', 'Notes something.', { type: 'object' }, ({ text }) => \`noted: \${text}\`);
`;
  const asking = agents
    .replace('options: () => ({', 'questionTimeoutMs: Number(process.env.PATIENCE ?? 0) || undefined,\n  options: () => ({ tools: [note],')
    .replace("new DatabaseSync('sessions.sqlite')", "new DatabaseSync('sessions.sqlite'), idleMs: 0");
  writeFileSync(join(folder, 'agents.js'), `${tools}${asking}`);
  writeFileSync(join(folder, 'server.js'), server);
  await start();
});

after(async () => {
  await served?.stop();
  await model?.stop();
  rmSync(folder, { recursive: true });
});

async function start(more = {}) {
  const env = { BASE_URL: model.url, API_KEY: 'secret', VISITORS: 'visitor', PORT: '0', ...more };
  served = await startService({ cwd: folder, env }, /(http:\/\/localhost:\d+)/, [node, 'server.js']);
}

function request(path, body, headers = {}) {
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  return fetch(`${served.url}${path}`, { ...init, headers: { authorization: 'Bearer visitor', ...headers } });
}

/** The events of a stream, until one of a kind, if that is named. */
async function events(response, until) {
  assert.equal(response.status, 200);
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (until && text.includes(`event: ${until}\n`) && text.endsWith('\n\n')) break;
  }
  return text;
}

test('card_4_the_storage_of_a_local_object_keeps_the_contract_of_stores', async () => {
  const program = `import { DatabaseSync } from 'node:sqlite';
import { DurableObjectSessionStore } from 'windlass';
import { LocalObjects } from 'windlass/edge';
import { checkStore } from 'windlass/testkit';

let places = 0;
class Place {
  constructor({ storage }) {
    this.storage = storage;
  }
  async fetch() {
    return new DurableObjectSessionStore(this.storage);
  }
  rests() {
    return false;
  }
}
const objects = new LocalObjects(Place, { database: new DatabaseSync(':memory:') });
const broken = await checkStore(() => {
  places += 1;
  const name = String(places);
  return { store: () => objects.get(name).fetch() };
});
console.log(JSON.stringify(broken));
`;
  writeFileSync(join(folder, 'check.js'), program);
  const { stdout } = await promisify(execFile)(node, ['--no-warnings', 'check.js'], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), []);
});

test('card_4_a_session_of_the_handler_runs_in_node_and_goes_on_when_its_object_has_left_the_memory', async () => {
  assert.equal((await fetch(`${served.url}/sessions`, { method: 'POST' })).status, 401);
  model.answer('Noted.');
  const first = await request('/sessions', { prompt: 'My number is 7.' });
  const id = first.headers.get('windlass-session');
  assert.match(await events(first), /"result":"Noted\."/);
  assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret');
  model.answer('7.');
  assert.match(await events(await request(`/sessions/${id}`, { prompt: 'Which number?' })), /"result":"7\."/);
  assert.equal(model.requests.at(-1).body.messages.length, 3);
  const transcript = (await (await request(`/sessions/${id}`)).text()).trim().split('\n').map((line) => JSON.parse(line));
  assert.ok(transcript.length >= 4);
});

test('card_4_a_question_outlives_the_process_of_node', async () => {
  model.answer({ call: { name: 'Note', input: { text: 'later', $bytes: 'AA==' } } });
  const response = await request('/sessions', { prompt: 'Note it.' });
  const id = response.headers.get('windlass-session');
  await events(response, 'permission');
  await served.stop();
  await start();
  const [question] = await (await request(`/sessions/${id}/questions`)).json();
  assert.deepEqual(question.input, { text: 'later', $bytes: 'AA==' });
  const asked = model.requests.length;
  model.answer('Done.');
  const late = await events(await request(`/sessions/${id}/answer`, { toolUseID: question.toolUseID, behavior: 'allow' }));
  assert.match(late, /noted: later/);
  assert.match(late, /"result":"Done\."/);
  assert.equal(model.requests.length, asked + 1);
  assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), []);
  const deleted = await fetch(`${served.url}/sessions/${id}`, { method: 'DELETE', headers: { authorization: 'Bearer visitor' } });
  assert.equal(deleted.status, 200);
  assert.equal((await request(`/sessions/${id}`)).status, 404);
});

test('card_4_the_model_goes_on_in_the_next_process_when_nobody_has_answered_a_question', async () => {
  await served.stop();
  await start({ PATIENCE: '60000' });
  model.answer({ call: { name: 'Note', input: { text: 'a' } } });
  const response = await request('/sessions', { prompt: 'Note it.' });
  const id = response.headers.get('windlass-session');
  await events(response, 'permission');
  await served.stop();
  await start({ PATIENCE: '60000' });
  const open = async () => (await request(`/sessions/${id}/questions`)).json();
  assert.equal((await open()).length, 1);
  // The clock of the next process is past the deadline.
  await served.stop();
  writeFileSync(join(folder, 'later.js'), 'const { now } = Date;\nDate.now = () => now() + 120_000;\n');
  const asked = model.requests.length;
  model.answer('Without it, then.');
  await start({ PATIENCE: '60000', NODE_OPTIONS: '--import ./later.js' });
  const said = async () => (await request(`/sessions/${id}`)).text();
  while (!(await said()).includes('Without it, then.'));
  // Nobody has asked for anything: the model was told, once.
  assert.match(await said(), /nobody answered the question/);
  assert.equal(model.requests.length, asked + 1);
  while ((await open()).length > 0);
  model.answer('On.');
  assert.match(await events(await request(`/sessions/${id}`, { prompt: 'Go on.' })), /"result":"On\."/);
});

test('card_4_two_requests_at_once_are_one_after_the_other', async () => {
  model.answer({ call: { name: 'Note', input: { text: 'once' } } }, 'Done.', 'Still here.');
  const first = await request('/sessions', { prompt: 'Note it.' });
  const id = first.headers.get('windlass-session');
  const [, toolUseID] = /"toolUseID":"([^"]+)"/.exec(await events(first, 'permission'));
  const answer = () => request(`/sessions/${id}/answer`, { toolUseID, behavior: 'allow' }, { accept: 'text/event-stream' });
  const both = await Promise.all([answer(), answer()]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 404]);
  // Whoever has answered reads all that follows, and the other one has taken nothing away.
  assert.match(await events(both.find(({ status }) => status === 200)), /noted: once.*"result":"Done\."/s);
  assert.match(await events(await request(`/sessions/${id}`, { prompt: 'And?' })), /"result":"Still here\."/);
});

test('card_4_an_answer_is_not_lost_to_a_prompt_of_the_same_moment', async () => {
  model.answer({ call: { name: 'Note', input: { text: 'allowed' } } });
  const first = await request('/sessions', { prompt: 'Note it.' });
  const id = first.headers.get('windlass-session');
  const [, toolUseID] = /"toolUseID":"([^"]+)"/.exec(await events(first, 'permission'));
  await served.stop();
  await start();
  const asked = model.requests.length;
  model.answer('Done.');
  const answered = request(`/sessions/${id}/answer`, { toolUseID, behavior: 'allow' });
  const prompted = request(`/sessions/${id}`, { prompt: 'And now?' });
  const [answer, prompt] = await Promise.all([answered, prompted]);
  // One of them is served first, and the other one is told: nobody hears of a call that has run as of one that may have.
  if (answer.status === 200) {
    assert.equal(prompt.status, 409);
    assert.match(await events(answer), /noted: allowed/);
  } else {
    assert.equal(answer.status, 404);
    assert.match(await events(prompt), /"result":"Done\."/);
  }
  assert.equal(model.requests.length, asked + 1);
});

test('card_4_what_is_no_session_and_no_prompt_begins_none', async () => {
  const unknown = await request('/sessions/11111111-1111-4111-8111-111111111111', { prompt: 'Hi.' });
  assert.equal(unknown.status, 404);
  assert.match(await unknown.text(), /nothing is kept of a session/);
  assert.equal((await request('/sessions/11111111-1111-4111-8111-111111111111/begin', { prompt: 'Hi.' })).status, 404);
  for (const prompt of [5, null, [], {}, [5], '', true, [{}]]) assert.equal((await request('/sessions', { prompt })).status, 400, JSON.stringify(prompt));
});

test('card_4_no_request_ends_the_printed_server', async () => {
  const { hostname, port } = new URL(served.url);
  for (const line of ['GET http://[ HTTP/1.1', 'TRACE / HTTP/1.1', 'GET // HTTP/1.1', 'GET /sessions/%zz HTTP/1.1']) {
    const socket = connect(Number(port), hostname);
    socket.end(`${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
    let text = '';
    for await (const piece of socket) text += piece;
    assert.match(text, /^HTTP\/1\.1 4\d\d /, line);
  }
  assert.equal((await fetch(`${served.url}/sessions`, { method: 'POST' })).status, 401);
});

test('card_4_only_nothing_lets_a_request_in', async () => {
  const { edge } = await load('edge.js');
  const { error } = console;
  console.error = () => {};
  try {
    for (const said of [false, true, null, 'no', {}]) {
      const { handler } = edge({ authorize: () => said, options: () => ({}) });
      assert.equal((await handler.fetch(new Request('http://localhost/sessions', { method: 'POST' }), {})).status, 500);
    }
    const failing = () => {
      throw new Error('secret of the owner');
    };
    const refused = await edge({ authorize: failing, options: () => ({}) }).handler.fetch(new Request('http://localhost/sessions'), {});
    assert.deepEqual([refused.status, (await refused.text()).includes('secret')], [500, false]);
  } finally {
    console.error = error;
  }
});
