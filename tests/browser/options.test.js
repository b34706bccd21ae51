/** What becomes of the options of an agent: all that there are have an effect, and what has none is told. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { directory, files, windlass } from './package-under-test.js';
import { agentOf, all, callOf } from './scripted-agent.js';

const { Agent, MemoryFileSystem, query, tool } = windlass;
const note = tool('Note', 'Notes.', {}, () => 'noted');

/** The request of a model that is asked once. */
async function requestOf(options) {
  let body;
  const fetch = async (url, request) => {
    body = JSON.parse(new TextDecoder().decode(request.body));
    return new Response('{"type":"error","error":{"type":"authentication_error","message":"no"}}', { status: 401 });
  };
  const result = await new Agent({ ...options, fetch }).run('Hi.');
  assert.match(JSON.stringify(result.errors), /no/);
  return body;
}

/** A value of each option, with what it needs beside it. */
const GIVEN = {
  additionalDirectories: ['/b'], agent: 'scout', agents: { scout: { description: 'Looks.', prompt: 'Look.' } },
  allowDangerouslySkipPermissions: true, allowedTools: ['A'], apiKey: 'key', askTools: ['B'], baseUrl: 'https://a.example', betas: ['b'],
  canUseTool: () => ({ behavior: 'allow' }), clock: new windlass.SystemClock(), configDir: '/home', continue: true, coreTools: ['TodoWrite'], cwd: '/a',
  dangerouslyAllowBrowser: true, disallowedTools: ['C'], effort: 'low', environment: { date: '2026-11-28' }, fallbackModel: 'm',
  fetch: undefined, files: new MemoryFileSystem(), forkSession: true, forwardSubagentText: false, freeWorkspaceReads: true,
  headers: { a: 'b' }, hooks: { Stop: [{ hooks: [() => ({})] }] }, includeHookEvents: false, includePartialMessages: true,
  keepUnfinishedTurns: false, managedSettings: { env: {} }, maxBudgetUsd: 1, maxThinkingTokens: 2000, maxTokens: 100, maxTurns: 3, mcpServers: {}, model: 'm', onWarning: () => {},
  outputFormat: { type: 'json_schema', schema: { type: 'object' } }, permissionMode: 'plan', permissionPrompts: 'host',
  persistSession: false, planModeInstructions: 'Ask.', pluginFetch: fetch, pluginLog: () => {}, pluginSecret: () => undefined,
  pluginState: new windlass.MemorySessionStore().pluginState, plugins: [], prices: undefined, progressIntervalMs: 0,
  promptSuggestions: true, resume: undefined, resumeDropsTurn: undefined, resumeSessionAt: undefined, responseLimits: { idleMs: 1000 }, retry: { maxRetries: 0 },
  seed: new Uint8Array(32), sessionId: crypto.randomUUID(), sessionStore: new windlass.MemorySessionStore(), settings: { env: {} }, settingSources: ['project'], stream: false,
  systemPrompt: 'Be brief.', taskBudget: { total: 30_000 }, thinking: { type: 'adaptive' }, toolAliases: { Note: 'Memo' }, tools: [note],
  toolTimeoutMs: 1000, trustProject: true,
};

test('every option is taken', async () => {
  const { OPTIONS } = await import(pathToFileURL(join(directory, 'option-values.js')));
  assert.deepEqual(Object.keys(GIVEN).sort(), [...OPTIONS].sort());
  for (const [name, value] of Object.entries(GIVEN)) {
    const sessionStore = new windlass.MemorySessionStore();
    await new Agent({ sessionStore, fetch: () => Promise.reject(new Error('here')), retry: { maxRetries: 0 } }).run('Before.');
    const beside = { agent: { agents: GIVEN.agents }, forkSession: { continue: true } };
    assert.ok(await requestOf({ sessionStore, retry: { maxRetries: 0 }, ...beside[name], [name]: value }), name);
  }
});

test('runs of hooks are messages unless they are not wanted', async () => {
  const told = async (options) => {
    const { agent } = await agentOf([{ respond: 'Done.' }], { hooks: GIVEN.hooks, ...options });
    return (await all(agent.query('Go.'))).map(({ subtype }) => subtype).filter((subtype) => subtype?.startsWith('hook_'));
  };
  assert.deepEqual(await told({}), ['hook_started', 'hook_response']);
  assert.deepEqual(await told({ includeHookEvents: false }), []);
});

test('a value that an option cannot have is told, all of them at once', () => {
  const wrong = [
    [{ maxTurns: NaN }, /`maxTurns` is a whole number from 1 on, not NaN/], [{ maxTurns: 0 }, /`maxTurns`.*not 0/],
    [{ maxTurns: '5' }, /`maxTurns`.*not "5"/], [{ maxBudgetUsd: '1' }, /`maxBudgetUsd` is a number of US dollars/],
    [{ maxBudgetUsd: Infinity }, /not Infinity/], [{ toolTimeoutMs: NaN }, /`toolTimeoutMs`/], [{ toolTimeoutMs: -5 }, /not -5/],
    [{ canUseTool: 'yes' }, /`canUseTool` is a function, not "yes"/], [{ disallowedTools: 'Read' }, /`disallowedTools` is a list of texts, not "Read"/],
    [{ baseUrl: new URL('https://a.example') }, /`baseUrl` is a text that is not empty, not an object \(URL\)/], [{ model: '' }, /`model`/],
    [{ files: {} }, /`files` is a FileSystem/], [{ sessionStore: {} }, /`sessionStore` is a SessionStore/], [{ cwd: 'rel' }, /`cwd` is an absolute path/],
    [{ additionalDirectories: ['x'] }, /absolute paths/], [{ effort: 'huge' }, /`effort` is one of "low".*not "huge"/], [{ seed: new Uint8Array(3) }, /32 bytes/],
    [{ resume: null }, /`resume` is a text that is not empty, not null/], [{ hooks: { PreToolUse: [() => ({})] } }, /each matcher of PreToolUse is an object/],
    [{ hooks: { PreToolUse: [{ hooks: ['x'] }] } }, /each matcher of PreToolUse/], [{ hooks: { PreToolUse: null } }, /`hooks` is an object with a list/],
    [{ hooks: { Stop: [{ hooks: [() => ({})], timeout: -1 }] } }, /the `timeout` of Stop/], [{ agents: { scout: {} } }, /the agent `scout` needs a `description`/],
    [{ permissionMode: 'bypassPermissions' }, /needs `allowDangerouslySkipPermissions: true`/], [{ continue: 'yes' }, /`continue` is true or false/],
  ];
  for (const [options, message] of wrong) assert.throws(() => new Agent(options), message, JSON.stringify(options));
  assert.throws(() => new Agent({ maxTurns: 0, cwd: 'rel', banana: 1 }), /`banana`; `maxTurns` is .*; `cwd` is/);
});

test('an option that there is not is told, with the one that was meant', () => {
  assert.throws(() => new Agent({ allowed_tools: [] }), /there is no option `allowed_tools`: did you mean `allowedTools`\?/);
  assert.throws(() => new Agent({ disalowedTools: [] }), /there is no option `disalowedTools`: did you mean `disallowedTools`\?/);
  assert.throws(() => new Agent({ banana: 1 }), /there is no option `banana`$/);
  assert.throws(() => query({ prompt: 'Hi.', options: { resum: 'x' } }), /did you mean `resume`\?/);
  assert.ok(new Agent({ banana: undefined }));
});

test('an option of the TypeScript Agent SDK that means nothing here is told, all of them at once', () => {
  const options = { sandbox: {}, skills: ['pdf'], pathToClaudeCodeExecutable: 'claude' };
  assert.throws(() => new Agent(options), ({ message }) => {
    assert.match(message, /`sandbox` has no meaning here: .*granted/);
    assert.match(message, /`skills` has no meaning here: the skills are those of the sources of settings/);
    assert.match(message, /`pathToClaudeCodeExecutable` has no meaning here: no program is started/);
    return true;
  });
  assert.throws(() => new Agent({ tools: ['Read'] }), /`tools` are what `tool` makes, not "Read"/);
  assert.throws(() => new Agent({ tools: { type: 'preset' } }), /`tools` is a list/);
  assert.throws(() => new Agent({ abortController: new AbortController() }), /belongs to one `query`/);
});

test('an event for which there is no occasion is told', () => {
  const hooks = [{ hooks: [() => ({})] }];
  assert.throws(() => new Agent({ hooks: { PreTolUse: hooks } }), /no occasion for `PreTolUse` here: did you mean `PreToolUse`\?/);
  assert.throws(() => new Agent({ hooks: { Elicitation: hooks } }), /no occasion for `Elicitation` here$/);
  assert.throws(() => new Agent({ hooks: { TeammateIdle: hooks } }), /no occasion for `TeammateIdle` here/);
});

test('a field of an agent that does nothing is told', () => {
  const scout = { description: 'Looks.', prompt: 'Look.' };
  assert.throws(() => new Agent({ agents: { scout: { ...scout, maxTurn: 3 } } }), /agent `scout` has a field `maxTurn`.*`maxTurns`/);
  assert.throws(() => new Agent({ agents: { scout: { ...scout, memory: 'user' } } }), /a field `memory`, which does nothing here/);
});

test('a prompt takes a signal and nothing else', async () => {
  const agent = new Agent({ fetch: () => assert.fail('it asked') });
  assert.throws(() => agent.query('Hi.', { abortController: new AbortController() }), /a prompt has no option `abortController`/);
  assert.throws(() => agent.query('Hi.', { signal: new AbortController() }), /`signal` is no AbortSignal/);
  assert.throws(() => query({ prompt: 'Hi.', options: { abortController: AbortSignal.abort() } }), /no AbortController/);
  assert.throws(() => agent.session({ model: 'x' }), /a session has no option `model` of its own/);
});

test('what the model is asked for is what the options say', async () => {
  const asked = await requestOf({
    systemPrompt: ['One.', 'Two.'],
    model: 'claude-opus-4-5', // a newer one thinks as much as it likes
    maxThinkingTokens: 2000,
    taskBudget: { total: 50_000 },
    tools: [note],
    toolAliases: { Note: 'Memo' },
  });
  assert.equal(asked.system[0].text, 'One.\n\nTwo.');
  assert.deepEqual(asked.thinking, { type: 'enabled', budget_tokens: 2000 });
  assert.equal(asked.output_config.task_budget.total, 50_000);
  assert.equal((await requestOf({ systemPrompt: { type: 'custom', prompt: ['One.', 'Two.'] } })).system[0].text, 'One.\n\nTwo.');
  const preset = { type: 'preset', preset: 'claude_code', append: 'Last.' };
  const [whole, apart] = [await requestOf({ systemPrompt: preset }), await requestOf({ systemPrompt: { ...preset, excludeDynamicSections: true } })];
  assert.ok(whole.system.length > 0 && JSON.stringify(whole.system).includes('Last.'));
  assert.notDeepEqual(apart.system, whole.system);
  assert.equal((await requestOf({ thinking: { type: 'adaptive', display: 'omitted' } })).thinking.display, 'omitted');
  assert.deepEqual((await requestOf({ model: 'claude-opus-4-6', maxThinkingTokens: 0 })).thinking?.type ?? 'disabled', 'disabled');
  const planned = await requestOf({ permissionMode: 'plan', planModeInstructions: 'Ask three questions.' });
  assert.match(JSON.stringify(planned.messages), /Ask three questions\./);
});

test('where nobody is to be asked, nobody is', async () => {
  const { agent, model } = await agentOf([callOf('Note'), { expect: { tool_results: [{ is_error: true }] }, respond: 'So.' }], {
    tools: [note],
    canUseTool: () => assert.fail('it asked'),
    permissionPrompts: 'none',
  });
  await agent.run('Go.');
  model.verify();
  assert.throws(() => new Agent({ permissionPrompts: 'nobody' }), /is one of "host", "none"/);
});

test('further directories count as the working directory does', async () => {
  const tree = new MemoryFileSystem({ files: { '/work/a': 'a\n', '/more/b': 'bee\n', '/else/c': 'sea\n' } });
  const read = (path) => callOf('Read', { file_path: path });
  const { agent, model } = await agentOf(
    [
      read('/more/b'),
      { expect: { last_user_contains: 'bee' }, ...read('/else/c') },
      { expect: { tool_results: [{ is_error: true }] }, respond: 'So.' },
    ],
    { plugins: [await files.fileTools()], files: tree, cwd: '/work', additionalDirectories: ['/more'], freeWorkspaceReads: true },
  );
  await agent.run('Read.');
  model.verify();
});

test('what subagents say is told unless it is not wanted', async () => {
  const exchanges = [
    callOf('Agent', { description: 'look', prompt: 'Look.', subagent_type: 'scout' }),
    { respond: 'Nothing there.' },
    { respond: 'All clear.' },
  ];
  const options = { agents: { scout: { description: 'Looks.', prompt: 'Look.' } }, allowedTools: ['Agent'] };
  const says = async (more) => {
    const { agent } = await agentOf(exchanges, { ...options, ...more });
    const messages = await all(agent.query('Go.'));
    const ofScout = messages.filter((message) => message.type === 'assistant' && message.parent_tool_use_id);
    return JSON.stringify(ofScout).includes('Nothing there');
  };
  assert.equal(await says({}), true);
  assert.equal(await says({ forwardSubagentText: false }), false);
});

test('what the person might say next comes behind the result', async () => {
  const { agent } = await agentOf([{ respond: 'Done.' }, { respond: 'Run the tests.' }], { promptSuggestions: true });
  const messages = await all(agent.query('Go.'));
  const again = await agentOf([{ respond: 'Done.' }, { respond: 'Run the tests.' }], { promptSuggestions: true });
  assert.equal((await again.agent.run('Go.')).result, 'Done.');
  assert.deepEqual(messages.slice(-2).map(({ type, suggestion }) => suggestion ?? type), ['result', 'Run the tests.']);
});

test('the guide has a place for every option, and for no other', async () => {
  const { ELSEWHERE } = await import(pathToFileURL(join(directory, 'options.js')));
  const { OPTIONS } = await import(pathToFileURL(join(directory, 'option-values.js')));
  const guide = readFileSync(new URL('../../docs/browser.md', import.meta.url), 'utf8');
  const [section] = guide.slice(guide.indexOf('\n## Options\n')).split('\n## Tools\n');
  const firsts = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) => [...names.matchAll(/`(\w+)`/g)]);
  const named = firsts.map(([, name]) => name).sort();
  assert.deepEqual(named, [...OPTIONS, ...Object.values(ELSEWHERE).flat(), 'abortController'].sort());
});

test('a server that goes silent in the middle of an answer is given up', async () => {
  const silent = async (url, { signal }) =>
    new Response(new ReadableStream({ start: (stream) => signal.addEventListener('abort', () => stream.error(signal.reason)) }), {
      headers: { 'content-type': 'text/event-stream' },
    });
  const result = await new Agent({ fetch: silent, apiKey: 'key', responseLimits: { idleMs: 50 }, retry: { maxRetries: 0 } }).run('Hi.');
  assert.equal(result.is_error, true);
  assert.match(JSON.stringify(result.errors), /50 ms|silent|idle|nothing/);
});
