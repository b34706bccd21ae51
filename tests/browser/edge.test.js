/** Sessions in the real edge runtime: workerd, which is killed and started again over the same storage. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { Model } from './edge/model.js';
import { Workerd, workerdProgram } from './edge/workerd.js';

/** How often the runtime is killed in the middle of something. */
const KILLS = Number(process.env.WINDLASS_EDGE_KILLS ?? 5);

const directory = process.env.WINDLASS_BROWSER ?? fileURLToPath(new URL('../../target/browser', import.meta.url));
// Elsewhere npm has none; where it has one, a test without it would show nothing.
const skip = ['linux', 'darwin'].includes(process.platform) ? false : 'there is no workerd for this platform';
let model;
let workerd;

before(async () => {
  if (skip) return;
  assert.ok(workerdProgram(), 'workerd is not installed: `cargo xtask setup` installs it');
  model = await Model.start();
  workerd = new Workerd(directory, model.url);
  await workerd.start();
});

after(async () => {
  await workerd?.remove();
  await model?.stop();
});

function request(path, { body, ...init } = {}) {
  const headers = { authorization: 'Bearer visitor', ...init.headers };
  return fetch(`${workerd.url}${path}`, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), ...init, headers });
}

/** The events of a stream, as they come. */
async function* events(response) {
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
async function ask(prompt, session) {
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
function sent() {
  const { messages } = model.requests.at(-1).body;
  return messages.map(({ role, content }) => {
    const texts = typeof content === 'string' ? [content] : content.map(({ text, type }) => text ?? type);
    return `${role}: ${texts.join(' ')}`;
  });
}

async function lines(id) {
  const response = await request(`/sessions/${id}`);
  return (await response.text()).trimEnd().split('\n');
}

test('card_4_the_storage_of_an_object_keeps_the_contract_of_stores', { skip }, async () => {
  assert.deepEqual(await (await request('/check')).json(), []);
});

test('card_4_a_session_runs_at_the_edge_and_goes_on', { skip }, async () => {
  model.answer('Noted.', '7.');
  const { id, result } = await ask('My number is 7.');
  assert.equal(result.result, 'Noted.');
  assert.equal(result.session_id, id);
  assert.equal(model.requests.at(-1).headers['x-api-key'], 'secret-of-the-edge');
  const again = await ask('Which number?', id);
  assert.equal(again.result.result, '7.');
  assert.deepEqual(sent(), ['user: My number is 7.', 'assistant: Noted.', 'user: Which number?']);
});

test('card_4_a_person_answers_by_another_request', { skip }, async () => {
  model.answer({ call: { name: 'Note', input: { text: 'a' } } }, 'Noted.', { call: { name: 'Note', input: { text: 'b' } } }, 'Not noted.');
  const first = await decide('Note a.', undefined, { behavior: 'allow' });
  assert.equal(first.question.toolName, 'Note');
  assert.match(first.results, /noted: a/);
  const second = await decide('Note b.', first.id, { behavior: 'deny', message: 'not that one' });
  assert.match(second.results, /not that one/);
  const none = await request(`/sessions/${first.id}/answer`, { body: { toolUseID: 'toolu_0', behavior: 'allow' } });
  assert.equal(none.status, 404);
});

/** Asks, and answers the question that comes. */
async function decide(prompt, session, decision) {
  const response = await request(session ? `/sessions/${session}` : '/sessions', { body: { prompt } });
  const id = response.headers.get('windlass-session');
  let question;
  let results = '';
  for await (const { event, data } of events(response)) {
    if (event === 'permission') {
      question = data;
      const answered = await request(`/sessions/${id}/answer`, { body: { toolUseID: data.toolUseID, ...decision } });
      assert.equal(answered.status, 200);
    }
    if (data.type === 'user') results += JSON.stringify(data.message);
  }
  return { id, question, results };
}

test('card_4_a_question_outlives_its_object_and_is_answered_by_a_later_request', { skip }, async () => {
  for (const [answer, said, results] of [
    [{ behavior: 'allow' }, /allowed it now/, /noted: later/],
    [{ behavior: 'deny', message: 'not today' }, /denied it now: not today/, undefined],
  ]) {
    model.answer({ call: { name: 'Note', input: { text: 'later' } } });
    const response = await request('/sessions', { body: { prompt: 'Note it.' } });
    const id = response.headers.get('windlass-session');
    const asked = events(response);
    let question;
    while (!question) {
      const { event, data } = (await asked.next()).value;
      if (event === 'permission') question = data;
    }
    await workerd.kill();
    await asked.return().catch(() => {});
    await workerd.start();
    assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), [question]);

    if (results) model.answer({ call: { name: 'Note', input: { text: 'later' } } });
    model.answer('Done.');
    const answered = await request(`/sessions/${id}/answer`, { body: { toolUseID: question.toolUseID, ...answer } });
    assert.equal(answered.headers.get('windlass-session'), id);
    const seen = [];
    for await (const { event, data } of events(answered)) {
      assert.equal(event, 'message', JSON.stringify(data));
      seen.push(data);
    }
    assert.equal(seen.at(-1).result, 'Done.');
    if (results) assert.match(JSON.stringify(seen.filter(({ type }) => type === 'user')), results);
    assert.match(sent().join('\n'), said);
    assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), []);
    const again = await request(`/sessions/${id}/answer`, { body: { toolUseID: question.toolUseID, ...answer } });
    assert.equal(again.status, 404);
  }
});

test('card_4_a_question_that_nobody_answers_in_time_is_denied', { skip }, async () => {
  model.answer({ call: { name: 'Note', input: {} } }, 'Well.');
  const response = await request('/sessions', { body: { prompt: 'Note.' }, headers: { impatient: 'yes' } });
  const seen = [];
  for await (const { data } of events(response)) seen.push(data);
  assert.equal(seen.at(-1).result, 'Well.');
  assert.match(JSON.stringify(seen), /nobody answered the question/);
});

test('card_4_a_session_that_is_called_twice_at_once_says_so', { skip }, async () => {
  const begun = new Promise((resolve) => model.answer({ begins: 'One mom', begun: resolve }));
  const response = await request('/sessions', { body: { prompt: 'Take your time.' } });
  const id = response.headers.get('windlass-session');
  const reading = (async () => {
    let last;
    for await (const { data } of events(response)) last = data;
    return last;
  })();
  await begun;
  const second = await request(`/sessions/${id}`, { body: { prompt: 'And this?' } });
  assert.equal(second.status, 409);
  assert.match((await second.json()).error, /answering another prompt/);
  assert.equal((await request(`/sessions/${id}/interrupt`, { method: 'POST' })).status, 200);
  assert.equal((await reading).type, 'result');
  model.answer('Now.');
  assert.equal((await ask('And now?', id)).result.result, 'Now.');
});

test('card_4_the_answer_stops_when_its_reader_leaves', { skip }, async () => {
  const begun = new Promise((resolve) => model.answer({ begins: 'One mom', begun: resolve }));
  const leave = new AbortController();
  const response = await request('/sessions', { body: { prompt: 'Take your time.' }, signal: leave.signal });
  const id = response.headers.get('windlass-session');
  await begun;
  leave.abort();
  model.answer('Yes.');
  // Until the answer has been stopped, the session is answering it.
  let next;
  do {
    next = await request(`/sessions/${id}`, { body: { prompt: 'Still there?' } });
    if (next.status === 409) await next.text();
  } while (next.status === 409);
  assert.equal(next.status, 200);
  let last;
  for await (const { event, data } of events(next)) {
    assert.notEqual(event, 'error', JSON.stringify(data));
    last = data;
  }
  assert.equal(last.result, 'Yes.');
});

test('card_4_what_makes_no_sense_is_refused', { skip }, async () => {
  for (const [path, init, status] of [
    ['/', {}, 404],
    ['/sessions/7', {}, 404],
    ['/sessions', { body: { promt: 'x' } }, 400],
    [`/sessions/${crypto.randomUUID()}`, {}, 404],
    [`/sessions/${crypto.randomUUID()}`, { method: 'PUT' }, 405],
    ['/sessions', { body: { prompt: 'x' }, headers: { authorization: 'none' } }, 401],
    [`/sessions/${crypto.randomUUID()}`, { headers: { authorization: 'none' } }, 401],
    [`/sessions/${crypto.randomUUID()}`, { method: 'DELETE', headers: { authorization: 'none' } }, 401],
  ]) {
    const response = await request(path, init);
    assert.equal(response.status, status, `${path} ${JSON.stringify(init)}: ${await response.text()}`);
  }
});

test('card_4_a_session_that_is_deleted_is_gone', { skip }, async () => {
  model.answer('Here.');
  const { id } = await ask('Begin.');
  assert.ok((await lines(id)).length > 1);
  assert.equal((await request(`/sessions/${id}`, { method: 'DELETE' })).status, 200);
  assert.equal((await request(`/sessions/${id}`)).status, 404);
});

/** What the runtime is killed in the middle of: what the model answers, and the event after which it is there. */
const MIDDLES = [
  { of: 'a stream', answer: (begun) => ({ begins: 'Half of it', begun }), isThere: () => false },
  { of: 'a call', answer: () => ({ call: { name: 'Wait', input: {} } }), isThere: ({ data }) => data.type === 'assistant' },
  { of: 'a question', answer: () => ({ call: { name: 'Note', input: {} } }), isThere: ({ event }) => event === 'permission' },
];

test('card_4_nothing_is_lost_where_the_runtime_is_killed_in_the_middle', { skip }, async () => {
  model.answer('Ready.');
  const { id } = await ask('Begin.');
  let kept = await lines(id);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { of, answer, isThere } = MIDDLES[kill % MIDDLES.length];
    let there;
    const inTheMiddle = new Promise((resolve) => {
      there = resolve;
    });
    model.answer(answer(there));
    const response = await request(`/sessions/${id}`, { body: { prompt: `Prompt ${kill}.` } });
    const reading = (async () => {
      for await (const event of events(response)) if (isThere(event)) there();
    })().catch(() => {});
    await inTheMiddle;
    await workerd.kill();
    await reading;
    await workerd.start();
    const now = await lines(id);
    assert.deepEqual(now.slice(0, kept.length), kept, `${of}: lines that were there are there`);
    assert.ok(now.some((line) => line.includes(`Prompt ${kill}.`)), `${of}: the prompt is there`);
    model.answer(`Answer ${kill}.`);
    assert.equal((await ask(`Again ${kill}.`, id)).result.result, `Answer ${kill}.`, of);
    // A call without a result would be refused by a real model server.
    const { messages } = model.requests.at(-1).body;
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const ids = (type, field) => blocks.filter((block) => block.type === type).map((block) => block[field]);
    assert.deepEqual(ids('tool_result', 'tool_use_id'), ids('tool_use', 'id'), of);
    kept = await lines(id);
  }
  const all = sent().join('\n');
  for (let kill = 0; kill < KILLS - 1; kill += 1) assert.ok(all.includes(`Answer ${kill}.`), all);
});
