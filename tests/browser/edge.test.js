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
  workerd = new Workerd({
    directory,
    worker: 'worker.js',
    texts: { MODEL: model.url },
    objects: { SESSIONS: 'SessionObject', IMPATIENT: 'ImpatientObject', CHECK: 'StoreCheck' },
  });
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

/** Asks, reads until questions and results are there, and ends the runtime; gives the id of the session and the questions. */
async function leaveAsking(prompt, { questions: count = 1, results = 0, ran = 0 } = {}) {
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
async function answer(id, { toolUseID }, decision) {
  const answered = await request(`/sessions/${id}/answer`, { body: { toolUseID, ...decision } });
  assert.equal(answered.status, 200, answered.status === 200 ? '' : await answered.text());
  assert.equal(answered.headers.get('windlass-session'), id);
  const seen = [];
  for await (const { event, data } of events(answered)) seen.push(event === 'message' ? data : { event, ...data });
  return seen;
}

const textOf = (messages, type) => JSON.stringify(messages.filter((message) => message.type === type));

test('card_4_a_question_outlives_its_object_and_the_turn_goes_on_where_it_was_asked', { skip }, async () => {
  for (const [decision, result] of [
    [{ behavior: 'allow' }, /noted: later/],
    [{ behavior: 'allow', updatedInput: { text: 'other' } }, /noted: other/],
    [{ behavior: 'deny', message: 'not today' }, /not today/],
  ]) {
    model.answer({ call: { name: 'Note', input: { text: 'later' } } });
    const { id, questions: [question] } = await leaveAsking('Note it.');
    assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), [question]);
    const asked = model.requests.length;
    const before = await lines(id);

    model.answer('Done.');
    const seen = await answer(id, question, decision);
    assert.equal(seen.at(-1).result, 'Done.', JSON.stringify(seen));
    assert.match(textOf(seen, 'user'), result);
    // The model is asked once, for what follows on the result of the very call.
    assert.equal(model.requests.length, asked + 1);
    const [prompt, called, ran] = model.requests.at(-1).body.messages;
    assert.equal(model.requests.at(-1).body.messages.length, 3);
    assert.match(JSON.stringify(prompt), /Note it\./);
    assert.equal(called.content[0].id, question.toolUseID);
    assert.equal(ran.content[0].tool_use_id, question.toolUseID);
    assert.match(JSON.stringify(ran), result);
    const now = await lines(id);
    assert.deepEqual(now.slice(0, before.length), before);
    assert.equal(new Set(now.map((line) => JSON.parse(line).uuid)).size, now.length, 'no line is there twice');
    assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), []);
    const again = await request(`/sessions/${id}/answer`, { body: { toolUseID: question.toolUseID, ...decision } });
    assert.equal(again.status, 404);
    model.answer('Still here.');
    assert.equal((await ask('And?', id)).result.result, 'Still here.');
  }
});

test('card_4_calls_beside_a_question_that_outlives_its_object_run_once', { skip }, async () => {
  // Calls that only read run at the same time: two are done, and two wait for a person, when the object ends.
  const call = (name, text) => ({ name, input: { text } });
  model.answer({ calls: [call('Count', 'a'), call('Peek', 'b'), call('Count', 'c'), call('Peek', 'd')] });
  const { id, questions } = await leaveAsking('Look at all of it.', { questions: 2, results: 2 });
  const [first, second] = questions;
  const asked = model.requests.length;
  const answered = await request(`/sessions/${id}/answer`, { body: { toolUseID: first.toolUseID, behavior: 'allow' } });
  const seen = [];
  model.answer('Looked.');
  for await (const { event, data } of events(answered)) {
    seen.push(data);
    if (event !== 'permission') continue;
    // The other question is asked again, in the stream that there is now.
    assert.deepEqual(data, second);
    const other = await request(`/sessions/${id}/answer`, { body: { toolUseID: second.toolUseID, behavior: 'deny', message: 'not this' } });
    assert.deepEqual(await other.json(), { toolUseID: second.toolUseID });
  }
  assert.equal(seen.at(-1).result, 'Looked.', JSON.stringify(seen));
  assert.equal(model.requests.length, asked + 1);
  const results = model.requests.at(-1).body.messages.at(-1).content.map(({ content }) => JSON.stringify(content));
  const [a, b, c, d] = results;
  assert.match(a, /Count: a/);
  assert.match(b, /Peek: b/);
  assert.match(c, /Count: c/);
  assert.match(d, /not this/);
  assert.deepEqual(model.ran.toSorted(), ['/Count/a', '/Count/c', '/Peek/b'], 'each call has run once');
});

test('card_4_a_call_that_ran_beside_a_question_runs_again_only_where_its_tool_says_so', { skip }, async () => {
  const before = model.ran.length;
  model.answer({ calls: [{ name: 'Peek', input: { text: 'it' } }, { name: 'Stall', input: {} }, { name: 'Retry', input: {} }] });
  const { id, questions: [question] } = await leaveAsking('Look.', { ran: before + 2 });
  model.answer('Looked.');
  assert.equal((await answer(id, question, { behavior: 'allow' })).at(-1).result, 'Looked.');
  const [, stalled, again] = model.requests.at(-1).body.messages.at(-1).content.map(({ content }) => JSON.stringify(content));
  assert.match(stalled, /outcome is unknown/);
  assert.match(again, /Retry: again/);
  const names = model.ran.slice(before).map((url) => url.split(/[/?]/)[1]);
  assert.deepEqual(names.toSorted(), ['Peek', 'Retry', 'Retry', 'Stall']);
});

test('card_4_a_question_of_a_subagent_outlives_its_object', { skip }, async () => {
  const asked = model.requests.length;
  model.answer({ call: { name: 'Agent', input: { description: 'look', prompt: 'Look around.', subagent_type: 'scout' } } });
  model.answer({ call: { name: 'Note', input: { text: 'of the scout' } } });
  const { id, questions: [question] } = await leaveAsking('Send the scout.');
  assert.ok(question.agentID, JSON.stringify(question));
  model.answer('I noted it.', 'The scout has noted it.');
  const seen = await answer(id, question, { behavior: 'allow' });
  assert.equal(seen.at(-1).result, 'The scout has noted it.');
  assert.equal(model.requests.length, asked + 4, 'two each: nothing is asked twice');
  const [ofScout, ofSession] = model.requests.slice(-2).map(({ body }) => JSON.stringify(body.messages.at(-1)));
  assert.match(ofScout, /noted: of the scout/);
  assert.match(ofSession, /I noted it\./);
});

test('card_4_an_answer_is_not_lost_with_the_object_that_received_it', { skip }, async () => {
  model.answer({ call: { name: 'Note', input: { text: 'kept' } } });
  const { id, questions: [question] } = await leaveAsking('Note it.');
  // The model is asked, and the runtime ends before it answers: the call has its result, which is in the transcript.
  const begun = new Promise((resolve) => model.answer({ begins: 'Half', begun: resolve }));
  const answered = await request(`/sessions/${id}/answer`, { body: { toolUseID: question.toolUseID, behavior: 'allow' } });
  const reading = (async () => {
    for await (const _ of events(answered));
  })().catch(() => {});
  await begun;
  await workerd.kill();
  await reading;
  await workerd.start();
  assert.match((await lines(id)).join('\n'), /noted: kept/);
  model.answer('On.');
  assert.equal((await ask('Go on.', id)).result.result, 'On.');
  assert.match(JSON.stringify(model.requests.at(-1).body.messages), /noted: kept/);
});

test('card_4_another_prompt_in_place_of_the_answer_goes_on_without_it', { skip }, async () => {
  model.answer({ call: { name: 'Note', input: { text: 'never' } } });
  const { id, questions: [question] } = await leaveAsking('Note it.');
  model.answer('All right.');
  assert.equal((await ask('Forget it.', id)).result.result, 'All right.');
  assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), []);
  const late = await request(`/sessions/${id}/answer`, { body: { toolUseID: question.toolUseID, behavior: 'allow' } });
  assert.equal(late.status, 404);
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
  { of: 'a stream', answers: (_, begun) => [{ begins: 'Half of it', begun }], isThere: () => false },
  { of: 'a call', answers: () => [{ call: { name: 'Wait', input: {} } }], isThere: ({ data }) => data.type === 'assistant' },
  { of: 'a question', answers: (n) => looks(n), isThere: ({ event }) => event === 'permission' },
  // Some event of a turn that has all of it, whichever it is.
  { of: 'a turn', answers: (n) => [...looks(n), 'Looked.'], isThere: (event, nth, last) => nth === last },
];

/** Calls of which one waits for a person, beside two that do not. */
function looks(n) {
  const call = (name, of) => ({ name, input: { text: `${n}-${of}` } });
  return [{ calls: [call('Count', 'a'), call('Peek', 'b'), call('Count', 'c')] }];
}

test('card_4_nothing_is_lost_and_nothing_done_twice_where_the_runtime_is_killed_in_the_middle', { skip }, async (t) => {
  const random = seeded(KILLS);
  model.answer('Ready.');
  const { id } = await ask('Begin.');
  let kept = await lines(id);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const middle = MIDDLES[kill < MIDDLES.length ? kill : random(MIDDLES.length)];
    const [last, delay, goesOn] = [1 + random(6), random(10), random(3) > 0];
    const where = `kill ${kill}, in ${middle.of}, ${last}, ${delay}`;
    let there;
    const inTheMiddle = new Promise((resolve) => {
      there = resolve;
    });
    model.answer(...middle.answers(kill, there));
    const response = await request(`/sessions/${id}`, { body: { prompt: `Prompt ${kill}.` } });
    const shown = [];
    const reading = (async () => {
      let nth = 0;
      for await (const event of events(response)) {
        nth += 1;
        shown.push(event);
        if (middle.isThere(event, nth, last) || event.data.type === 'result') there();
        else if (event.event === 'permission') {
          await request(`/sessions/${id}/answer`, { body: { toolUseID: event.data.toolUseID, behavior: 'allow' } });
        }
      }
    })().catch(() => {});
    await inTheMiddle;
    // No moment is a good one: what is being written then is another thing each time.
    await new Promise((resolve) => setTimeout(resolve, delay));
    await workerd.kill();
    await reading;
    await workerd.start();
    model.forget();
    const now = await lines(id);
    assert.deepEqual(now.slice(0, kept.length), kept, `${where}: lines that were there are there`);
    assert.ok(now.some((line) => line.includes(`Prompt ${kill}.`)), `${where}: the prompt is there`);
    const open = await (await request(`/sessions/${id}/questions`)).json();
    if (open.length > 0 && goesOn) {
      await answeredLate(id, open, kill, where, shown);
    }
    model.answer(`Answer ${kill}.`);
    assert.equal((await ask(`Again ${kill}.`, id)).result.result, `Answer ${kill}.`, where);
    // A call without a result would be refused by a real model server.
    const { messages } = model.requests.at(-1).body;
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const ids = (type, field) => blocks.filter((block) => block.type === type).map((block) => block[field]);
    assert.deepEqual(ids('tool_result', 'tool_use_id'), ids('tool_use', 'id'), where);
    assert.equal(new Set(model.ran).size, model.ran.length, `${where}: ${model.ran.slice(-6)}: no call has run twice`);
    kept = await lines(id);
    assert.equal(new Set(kept.map((line) => JSON.parse(line).uuid ?? line)).size, kept.length, `${where}: no line is there twice`);
  }
  const all = sent().join('\n');
  for (let kill = 0; kill < KILLS - 1; kill += 1) assert.ok(all.includes(`Answer ${kill}.`), all);
  t.diagnostic(`${KILLS} kills, ${model.ran.length} calls`);
});

/** Answers the question that was open when the runtime was killed: the turn goes on, and what was shown of it stays true. */
async function answeredLate(id, [question], kill, where, shown) {
  const asked = model.requests.length;
  model.answer('Late.');
  const seen = await answer(id, question, kill % 2 === 0 ? { behavior: 'allow' } : { behavior: 'deny', message: 'too late' });
  assert.equal(seen.at(-1).result, 'Late.', `${where}: ${JSON.stringify(seen.slice(-2))}`);
  assert.equal(model.requests.length, asked + 1, where);
  const results = new Map(model.requests.at(-1).body.messages.at(-1).content.map((block) => [block.tool_use_id, block]));
  for (const { data } of shown.filter(({ data: { type } }) => type === 'user')) {
    for (const block of data.message.content) assert.deepEqual(results.get(block.tool_use_id), block, where);
  }
}

/** Whole numbers below `most`, the same for the same seed. */
function seeded(seed) {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}
