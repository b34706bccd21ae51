/** What becomes of the options of an agent: all that there are have an effect, and what has none is told. */
import './npm-packages.js';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { directory, files, load, windlass } from './package-under-test.js';
import { agentOf, all, callOf, scripted } from './scripted-agent.js';

const { Agent, MemoryFileSystem, query, tool } = windlass;
const note = tool('Note', 'Notes.', {}, () => 'noted');

/** The request of a model that is asked once. */
async function requestOf(options) {
  let body;
  const fetch = async (url, request) => {
    body = JSON.parse(new TextDecoder().decode(request.body));
    return new Response('{"type":"error","error":{"type":"authentication_error","message":"no"}}', { status: 401 });
  };
  const result = await new Agent({ onWarning: () => {}, ...options, fetch }).run('Hi.');
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
  keepUnfinishedTurns: false, managedSettings: { env: {} }, maxBudgetUsd: 1, maxThinkingTokens: 2000, maxTokens: 100, maxTurns: 3, mcpServers: {}, model: 'm', onAllowed: () => {}, onWarning: () => {},
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

test('a field that does nothing is told, with the one that was meant', () => {
  const hooks = [() => ({})];
  const format = { type: 'json_schema', schema: {} };
  const wrong = [
    [{ hooks: { PreToolUse: [{ match: 'Other', hooks }] } }, /a matcher of PreToolUse has a field `match`, which does nothing here: did you mean `matcher`\?/],
    [{ hooks: { event: 'x', PreToolUse: [{ event: 'x', hooks }] } }, /`hooks` is an object with a list/],
    [{ hooks: { PreToolUse: [{ event: 'x', hooks }] } }, /a matcher of PreToolUse has a field `event`/],
    [{ retry: { maxRetry: 3 } }, /`retry` has a field `maxRetry`, which does nothing here: did you mean `maxRetries`\?/],
    [{ retry: { maxRetries: '3' } }, /`retry` is an object whose values are whole numbers/], [{ retry: { onlyRateLimits: 1 } }, /or true or false/],
    [{ responseLimits: { idle: 50 } }, /`responseLimits` has a field `idle`/], [{ taskBudget: { total: 9, max: 1 } }, /`taskBudget` has a field `max`/],
    [{ thinking: { type: 'enabled', budget_tokens: 9 } }, /a field `budget_tokens`.*`budgetTokens`/], [{ outputFormat: { ...format, name: 'x' } }, /a field `name`/],
    [{ systemPrompt: { type: 'preset', preset: 'claude_code', apend: 'x' } }, /`systemPrompt` has a field `apend`.*`append`/],
  ];
  for (const [options, message] of wrong) assert.throws(() => new Agent(options), message, JSON.stringify(options));
  assert.ok(new Agent({ retry: { maxRetries: 0, baseMs: undefined, honourRetryAfter: false, banana: undefined } }));
  assert.throws(() => tool('Note', '', {}, () => '', { readOnly: true }), /the tool Note has an extra `readOnly`, which belongs in `annotations`/);
  assert.throws(() => tool('Note', '', {}, () => '', { timeout: 5 }), /the tool Note has a field `timeout`, which does nothing here/);
  assert.throws(() => tool('Note', '', {}, () => '', { annotations: { readonly: true } }), /an annotation of the tool Note.*`readonly`.*mean `readOnly`\?/);
  assert.throws(() => tool('Note', '', {}, () => '', { paths: [{ field: 'a', acess: 'read' }] }), /a path of the tool Note.*`acess`.*mean `access`\?/);
  assert.throws(() => new MemoryFileSystem({ file: { '/a': '' } }), /a `MemoryFileSystem` has a field `file`, .*mean `files`\?/);
  assert.throws(() => new MemoryFileSystem({ '/a': 'text' }), /a field `\/a`, .*contents stand by their paths in `files`/);
});

test('a field of an agent that does nothing is told', () => {
  const scout = { description: 'Looks.', prompt: 'Look.' };
  assert.throws(() => new Agent({ agents: { scout: { ...scout, maxTurn: 3 } } }), /agent `scout` has a field `maxTurn`.*`maxTurns`/);
  assert.throws(() => new Agent({ agents: { scout: { ...scout, memory: 'user' } } }), /a field `memory`, which does nothing here/);
});

/** What is said of an agent with these options. */
function warned(options) {
  const warnings = [];
  assert.ok(new Agent({ tools: [note], ...options, onWarning: (text) => warnings.push(text) }));
  return warnings;
}

test('a tool of the loop that there is not here is told, with those that there are', async () => {
  const { CORE_TOOLS } = await load('named-tools.js');
  const core = readFileSync(new URL('../../core/src/tool/core_tool.rs', import.meta.url), 'utf8');
  const ofCore = [...core.matchAll(/Self::\w+ => "(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual([...CORE_TOOLS].sort(), [...ofCore.filter((name) => name !== 'EnterWorktree'), 'Agent'].sort());
  for (const name of ['EnterWorktree', 'ExitWorktree', 'Banana']) {
    const message = new RegExp(`the loop has no tool ${name} here: there are TodoWrite, AskUserQuestion, .*TaskStop`);
    assert.throws(() => new Agent({ coreTools: ['TodoWrite', name] }), message);
  }
  assert.throws(() => new Agent({ coreTools: ['TodoWirte'] }), /no tool TodoWirte here: did you mean `TodoWrite`\?/);
  assert.throws(() => new Agent({ coreTools: ['Read'] }), /Read comes with `plugins: \[await fileTools\(\)\]`/);
  assert.throws(() => new Agent({ coreTools: ['Bash'] }), /Bash comes with `tools: \[bashTool\(\)\]`/);
  const { agent } = await agentOf([{ respond: 'So.' }], { coreTools: CORE_TOOLS });
  const [{ tools }] = await all(agent.query('Go.'));
  assert.deepEqual(tools.sort(), CORE_TOOLS.filter((name) => name !== 'Agent').sort());
});

test('a call of a tool that nobody has says so', async () => {
  const { Host } = await load('host.js');
  const host = new Host({ tools: new Map() });
  await assert.rejects(host.callTool('1', JSON.stringify({ name: 'EnterWorktree', input: {} }), '{}'), /There is no tool EnterWorktree here/);
});

test('a rule for a tool that there is not is told, and begins nothing where it should have taken one away', async () => {
  const { KNOWN_TOOLS } = await load('named-tools.js');
  const source = readFileSync(new URL('../../core/src/permission/tool_name.rs', import.meta.url), 'utf8');
  const [, known] = /KNOWN: \[&str; \d+\] = \[(.*?)\]/s.exec(source);
  assert.deepEqual(KNOWN_TOOLS, known.match(/\w+/g));

  assert.deepEqual(warned({ allowedTools: ['Raed'] }), ['`allowedTools`: no tool is named Raed: did you mean Read?']);
  const unknown = ['`allowedTools`: no tool is named Banana, so that the rule Banana(a b) matches no call'];
  assert.deepEqual(warned({ allowedTools: ['Banana(a b)'] }), unknown);
  for (const option of ['disallowedTools', 'askTools']) {
    assert.deepEqual(warned({ [option]: ['Banana'] }), [`\`${option}\`: no tool is named Banana, so that the rule Banana matches no call`]);
    assert.throws(() => new Agent({ [option]: ['Raed(.env)'] }), new RegExp(`\`${option}\`: no tool is named Raed: did you mean Read\\?`));
    assert.throws(() => new Agent({ tools: [note], [option]: ['Noet'] }), /no tool is named Noet: did you mean Note\?/);
    assert.throws(() => new Agent({ [option]: ['mcp__docs__'] }), /no tool is named mcp__docs__: did you mean mcp__docs\?/);
  }
  // Tools of the agent, of others that the same rules were written for, and of servers.
  const fine = ['Note', 'Note(*)', 'Bash(npm test:*)', 'Read', 'Agent(scout)', 'KillBash', 'Monitor', 'mcp__docs', 'mcp__docs__*', 'mcp__docs__find'];
  assert.deepEqual(warned({ allowedTools: fine, askTools: fine, disallowedTools: fine, toolAliases: { A: 'Note', B: 'mcp__x__y', C: 'TodoWrite' } }), []);
  assert.deepEqual(warned({ plugins: [await files.fileTools()], disallowedTools: ['Write', 'Grep'] }), []);
  assert.deepEqual(warned({ toolAliases: { Foo: 'Bar' } }), ['`toolAliases`: no tool is named Bar, which should run for Foo']);
  assert.deepEqual(warned({ toolAliases: { Foo: 'Noet' } }), ['`toolAliases`: no tool is named Noet, which should run for Foo: did you mean Note?']);
});

test('a tool that an agent lists and nothing has is told', () => {
  const agents = (fields) => ({ agents: { scout: { description: 'Looks.', prompt: 'Look.', ...fields } } });
  assert.throws(() => new Agent(agents({ tools: ['Raed'] })), /`tools` of the agent `scout`: no tool is named Raed: did you mean Read\?/);
  assert.throws(() => new Agent(agents({ tools: ['Banana'] })), /`tools` of the agent `scout`: no tool is named Banana$/);
  assert.throws(() => new Agent(agents({ disallowedTools: ['Raed'] })), /`disallowedTools` of the agent `scout`: no tool is named Raed: did/);
  assert.deepEqual(warned(agents({ tools: ['Bash'] })), ['`tools` of the agent `scout`: no tool is named Bash here, so that it does without']);
  assert.deepEqual(warned(agents({ tools: ['*', 'Note', 'Agent', 'mcp__docs', 'mcp__docs__find'] })), []);
});

test('what is no component is told, with what it probably is', async () => {
  const plugins = (...list) => () => new Agent({ plugins: list });
  assert.throws(plugins(files.fileTools()), /`plugins`: one of them is a promise: write `await` .*`plugins: \[await fileTools\(\)\]`/);
  assert.throws(() => new Agent({ plugins: files.fileTools() }), /`plugins` is a promise: write `plugins: \[await fileTools\(\)\]`/);
  assert.throws(plugins(files.fileTools), /`plugins`: one of them is a function: call it/);
  assert.throws(plugins({ type: 'local', path: './mine' }), /"\.\/mine" is a directory, and plugins are components here: .*`files`.*`mcpServers`/);
  assert.throws(plugins(note), /the tool Note belongs in `tools`/);
  assert.throws(plugins({}), /`plugins` are components, such as `await fileTools\(\)`/);
  const component = await files.fileTools();
  assert.throws(() => new Agent({ tools: [component] }), /the component files belongs in `plugins`/);
  assert.throws(() => new Agent({ tools: [files.fileTools()] }), /`tools`: one of them is a promise/);
});

test('an address that ends in what is added to it is told', () => {
  const wrong = (baseUrl) => () => new Agent({ baseUrl });
  assert.throws(wrong('https://api.anthropic.com/v1'), /`baseUrl` ends in \/v1, which .*: write "https:\/\/api\.anthropic\.com"$/);
  assert.throws(wrong('https://a.example/x/v1/messages/'), /`baseUrl` ends in \/v1\/messages, .*: write "https:\/\/a\.example\/x"$/);
  assert.throws(wrong('/v1'), /`baseUrl` ends in \/v1, /);
  for (const baseUrl of ['https://api.anthropic.com', '/model', 'https://a.example/v1/x', 'https://a.example/mv1']) assert.ok(new Agent({ baseUrl }));
});

test('a store without a storage is told', () => {
  for (const storage of [undefined, {}, { storage: {} }]) {
    assert.throws(() => new windlass.DurableObjectSessionStore(storage), /takes the storage of a Durable Object: `ctx\.storage`/);
  }
});

test('a prompt that is none is told, and nothing is asked', async () => {
  const agent = new Agent({ fetch: () => assert.fail('it asked') });
  const none = /a prompt is a text or a list of content blocks, not/;
  for (const prompt of [undefined, null, 7, {}, [], ['Hi.'], { prompt: 'Hi.' }]) {
    assert.throws(() => agent.query(prompt), none, JSON.stringify(prompt));
    await assert.rejects(agent.run(prompt), none, JSON.stringify(prompt));
    assert.throws(() => query({ prompt }), none, JSON.stringify(prompt));
  }
  assert.throws(() => query({}), none);
  assert.throws(() => query('Hi.'), /`query` takes an object: `query\(\{ prompt: 'Hello\.'/);
  assert.throws(() => query(), /`query` takes an object/);
  assert.throws(() => query({ prompt: 'Hi.', option: {} }), /what `query` takes has a field `option`, .*mean `options`\?/);
  assert.throws(() => agent.query((async function* () {})()), /`query` takes a stream of prompts/);
});

test('every event at which hooks run happens', async () => {
  const { EVENTS } = await load('options.js');
  const { bashTool } = await load('shell.js');
  const happened = new Set();
  const note = (input) => void happened.add(input.hook_event_name);
  const { options, model } = await scripted([
    callOf('Bash', { command: 'cd d' }), callOf('Fails'), callOf('Denied'),
    callOf('Agent', { description: 'look', prompt: 'Look.', subagent_type: 'scout' }), { respond: 'Nothing there.' }, { respond: 'Reviewed.' },
    { respond: 'It was reviewed.' }, { respond: { error: { type: 'authentication_error', message: 'no' } } },
  ]);
  const fails = () => {
    throw new Error('no such luck');
  };
  const session = new Agent({
    ...options,
    hooks: Object.fromEntries(EVENTS.map((event) => [event, [{ hooks: [note] }]])),
    files: new MemoryFileSystem({ files: { '/w/CLAUDE.md': 'Use tabs.', '/w/.claude/commands/review.md': 'Review $ARGUMENTS.', '/w/d/a': 'a\n' } }),
    cwd: '/w',
    agents: { scout: { description: 'Looks.', prompt: 'Look.' } },
    tools: [bashTool(), tool('Fails', '', {}, fails), tool('Denied', '', {}, fails)],
    allowedTools: ['Bash', 'Agent', 'Fails'],
    canUseTool: () => ({ behavior: 'deny', message: 'not now' }),
  }).session();
  for (const prompt of ['/review it', '/compact', 'Again.']) await session.prompt(prompt).result();
  await session.close();
  model.verify();
  assert.deepEqual([...happened].sort(), [...EVENTS].sort());
});

test('an answer to a question that is none denies, and whoever wrote it is told', async () => {
  const answered = async (answer) => {
    const warnings = [];
    const { agent } = await agentOf([callOf('Note'), { respond: 'So.' }], { tools: [note], canUseTool: () => answer, onWarning: (text) => warnings.push(text) });
    const { permission_denials: denials } = await agent.run('Go.');
    return { isDenied: denials.length > 0, warnings };
  };
  const wanted = /an answer is `\{ behavior: 'allow' \}`.* or `\{ behavior: 'deny', message: 'why' \}`/;
  for (const [answer, what] of [
    [true, /gave true, so that the call was denied/], [undefined, /gave undefined/], [{ behavior: 'yes' }, /gave the behavior "yes"/],
    [{ allow: true }, /gave an object/], [{ behavior: 'deny' }, /without a `message`/], [{ behavior: 'deny', message: 7 }, /without a `message`/],
  ]) {
    const { isDenied, warnings } = await answered(answer);
    assert.equal(isDenied, true);
    assert.equal(warnings.length, 1);
    for (const part of [/`canUseTool` for Note: /, what, wanted]) assert.match(warnings[0], part);
  }
  const misspelt = await answered({ behavior: 'allow', updateInput: {} });
  assert.deepEqual(misspelt, { isDenied: false, warnings: ['`canUseTool` for Note: `updateInput` does nothing: did you mean `updatedInput`?'] });
  const permissions = await answered({ behavior: 'allow', updatedPermissions: {} });
  assert.match(permissions.warnings.join(), /`updatedPermissions` is a list, not an object .*changed nothing/);
  const interrupted = await answered({ behavior: 'deny', message: 'no', interrupt: 'yes' });
  assert.deepEqual([interrupted.isDenied, interrupted.warnings.length], [true, 1]);
  const fine = [{ behavior: 'allow', updatedInput: {}, toolUseID: 'x' }, { behavior: 'deny', message: 'no' }, { behavior: 'allow', updatedPermissions: null }];
  for (const answer of fine) assert.deepEqual((await answered(answer)).warnings, []);
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
