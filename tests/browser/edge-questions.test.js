/** Questions to a person in the real edge runtime: answered by other requests, of other readers, after the end of the runtime. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, ask, begin, end, events, leaveAsking, lines, request, skip } from './edge/sessions.js';

let model;
let workerd;

before(async () => {
  if (!skip) ({ model, workerd } = await begin());
});

after(end);

const textOf = (messages, type) => JSON.stringify(messages.filter((message) => message.type === type));

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
  assert.deepEqual(model.ran.map((url) => url.split('?')[0]).toSorted(), ['/Count/a', '/Count/c', '/Peek/b'], 'each call has run once');
});

test('card_4_a_call_that_ran_beside_a_question_runs_again_only_where_its_tool_says_so', { skip }, async () => {
  const before = model.ran.length;
  model.answer({ calls: [{ name: 'Peek', input: { text: 'it' } }, ...['Stall', 'Retry', 'Keyed'].map((name) => ({ name, input: { text: 'it' } }))] });
  const { id, questions: [question] } = await leaveAsking('Look.', { ran: before + 3 });
  model.answer('Looked.');
  assert.equal((await answer(id, question, { behavior: 'allow' })).at(-1).result, 'Looked.');
  const [, stalled, again, keyed] = model.requests.at(-1).body.messages.at(-1).content.map(({ content }) => JSON.stringify(content));
  assert.match(stalled, /outcome is unknown/);
  assert.match(again, /Retry: again/);
  assert.match(keyed, /Keyed: again/);
  const names = model.ran.slice(before).map((url) => url.split('/')[1]);
  assert.deepEqual(names.toSorted(), ['Keyed', 'Keyed', 'Peek', 'Retry', 'Retry', 'Stall']);
  // The names of their effects: another attempt, or the same one.
  const [first, second] = model.ran.slice(before).filter((url) => url.startsWith('/Keyed'));
  assert.equal(first, second);
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

test('card_4_results_beside_a_question_are_kept_where_another_prompt_takes_its_place', { skip }, async () => {
  const before = model.ran.length;
  model.answer({ calls: [{ name: 'Count', input: { text: 'shown' } }, { name: 'Peek', input: { text: 'never' } }] });
  const { id } = await leaveAsking('Look at it.', { results: 1 });
  model.answer('All right.');
  assert.equal((await ask('Forget it.', id)).result.result, 'All right.');
  const results = model.requests.at(-1).body.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result')));
  const [shown, never] = results;
  assert.match(JSON.stringify(shown), /Count: shown/);
  assert.ok(never.is_error, JSON.stringify(never));
  assert.match((await lines(id)).join('\n'), /Count: shown/);
  assert.deepEqual(model.ran.slice(before).map((url) => url.split('?')[0]), ['/Count/shown']);
});

test('card_4_an_alarm_brings_back_an_object_whose_question_nobody_has_answered', { skip }, async () => {
  const headers = { patience: 'patient' };
  let id;
  let asked;
  // On a machine that is slower than the deadline, that was over before the runtime was: once more.
  for (let isOpen = false; !isOpen; ) {
    model.forget();
    model.answer({ call: { name: 'Note', input: { text: 'late' } } }, 'Without it, then.');
    asked = model.requests.length + 1;
    const response = await request('/sessions', { body: { prompt: 'Note it.' }, headers });
    id = response.headers.get('windlass-session');
    const reading = events(response);
    while ((await reading.next()).value.event !== 'permission');
    await workerd.kill();
    await reading.return().catch(() => {});
    isOpen = model.requests.length === asked;
    await workerd.start();
  }
  // No request comes: the runtime wakes the object, which asks the model how to go on without an answer.
  await model.wasAsked(asked + 1);
  assert.match(JSON.stringify(model.requests.at(-1).body.messages.at(-1)), /nobody answered the question/);
  const transcript = async () => (await request(`/sessions/${id}`, { headers })).text();
  while (!(await transcript()).includes('Without it, then.'));
  assert.match(await transcript(), /nobody answered the question/);
  assert.equal(model.requests.length, asked + 1);
});

test('card_4_a_question_that_nobody_answers_in_time_is_denied', { skip }, async () => {
  model.answer({ call: { name: 'Note', input: {} } }, 'Well.');
  const response = await request('/sessions', { body: { prompt: 'Note.' }, headers: { patience: 'impatient' } });
  const seen = [];
  for await (const { data } of events(response)) seen.push(data);
  assert.equal(seen.at(-1).result, 'Well.');
  assert.match(JSON.stringify(seen), /nobody answered the question/);
});

/** Asks, and leaves when a question is there; gives the id of the session and the question. */
async function leaveAtQuestion() {
  model.answer({ call: { name: 'Note', input: { text: 'alone' } } });
  const leave = new AbortController();
  const response = await request('/sessions', { body: { prompt: 'Note it.' }, signal: leave.signal });
  const id = response.headers.get('windlass-session');
  for await (const { event, data } of events(response)) {
    if (event !== 'permission') continue;
    leave.abort();
    return { id, question: data };
  }
}

test('card_4_a_question_stays_open_when_its_reader_leaves', { skip }, async () => {
  const { id, question } = await leaveAtQuestion();
  assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), [question]);
  model.answer('Noted.');
  const answered = await request(`/sessions/${id}/answer`, {
    body: { toolUseID: question.toolUseID, behavior: 'allow' },
    headers: { accept: 'text/event-stream' },
  });
  const seen = [];
  for await (const { event, data } of events(answered)) seen.push(event === 'message' ? data : { event, ...data });
  assert.match(textOf(seen, 'user'), /noted: alone/);
  assert.equal(seen.at(-1).result, 'Noted.', JSON.stringify(seen));
});

test('card_4_a_prompt_goes_on_without_a_question_whose_reader_has_left', { skip }, async () => {
  const { id } = await leaveAtQuestion();
  model.answer('All right.');
  let next;
  do {
    next = await request(`/sessions/${id}`, { body: { prompt: 'Forget it.' } });
    if (next.status === 409) await next.text(); // until it is known that the reader has left
  } while (next.status === 409);
  let last;
  for await (const { data } of events(next)) last = data;
  assert.equal(last.result, 'All right.');
  assert.deepEqual(await (await request(`/sessions/${id}/questions`)).json(), []);
});
