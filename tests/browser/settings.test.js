/** Settings and project files in the file tree of an agent, in Node: what they do there is what they do natively. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windlass } from './package-under-test.js';
import { all, callOf, scripted } from './scripted-agent.js';

const { Agent, MemoryFileSystem, tool } = windlass;
const note = tool('Note', 'Notes.', { type: 'object' }, () => 'noted');

const AGENT = '---\nname: scout\ndescription: Looks around.\n---\nYou look around.';
const SKILL = '---\nname: pdf\ndescription: Reads PDF files.\n---\nRead it page by page.';
const COMMAND = '---\ndescription: Reviews.\nallowed-tools: Note\n---\nReview $ARGUMENTS carefully.';
const STYLE = '---\nname: pirate\ndescription: Arr.\n---\nTalk like a pirate.';

/** What an agent over these files does: its messages, requests and warnings. */
async function run(files, exchanges, options = {}, prompt = 'Go.') {
  const { model, options: ofModel } = await scripted(exchanges);
  const warnings = [];
  const requests = [];
  const fetch = (url, request) => {
    requests.push(JSON.parse(new TextDecoder().decode(request.body)));
    return model.fetch(url, request);
  };
  const agent = new Agent({
    ...ofModel,
    fetch,
    tools: [note],
    cwd: '/w',
    files: files instanceof Map ? new MemoryFileSystem({ files: Object.fromEntries(files) }) : files,
    onWarning: (text) => warnings.push(text),
    ...options,
  });
  const messages = await all(agent.query(prompt));
  return { messages, requests, warnings: warnings.join('\n'), init: messages.find(({ subtype }) => subtype === 'init') };
}

const settings = (value, path = '/w/.claude/settings.json') => [path, JSON.stringify(value)];
const resultsOf = (messages) => JSON.stringify(messages.filter(({ type }) => type === 'user').map(({ message }) => message.content));
const NOTED = [callOf('Note'), { respond: 'Done.' }];

test('card_4_rules_of_a_project_deny_and_ask_and_allow_nothing_until_it_is_trusted', async () => {
  const denied = await run(new Map([settings({ permissions: { deny: ['Note'] } })]), NOTED, { allowedTools: ['Note'] });
  assert.doesNotMatch(resultsOf(denied.messages), /noted/);
  const allowing = new Map([settings({ permissions: { allow: ['Note'], defaultMode: 'acceptEdits' } })]);
  const untrusted = await run(allowing, NOTED);
  assert.doesNotMatch(resultsOf(untrusted.messages), /noted/);
  assert.match(untrusted.warnings, /nobody has trusted this folder, so its files do not allow Note \(project settings\): `trustProject` lets them/);
  assert.equal(untrusted.init.permissionMode, 'default');
  const trusted = await run(allowing, NOTED, { trustProject: true });
  assert.match(resultsOf(trusted.messages), /noted/);
  assert.equal(trusted.init.permissionMode, 'acceptEdits');
  // What the options say goes before.
  assert.equal((await run(allowing, NOTED, { trustProject: true, permissionMode: 'plan' })).init.permissionMode, 'plan');
});

test('card_4_settings_of_a_person_count_and_so_do_those_of_the_embedder_and_an_organisation', async () => {
  const own = new Map([settings({ permissions: { allow: ['Note'] }, model: 'opus' }, '/home/settings.json')]);
  const { messages, requests } = await run(own, NOTED, { configDir: '/home' });
  assert.match(resultsOf(messages), /noted/);
  assert.match(requests[0].model, /opus/);
  assert.doesNotMatch(resultsOf((await run(own, NOTED, { configDir: '/home', settingSources: ['project', 'local'] })).messages), /noted/);
  assert.doesNotMatch(resultsOf((await run(own, NOTED)).messages), /noted/);
  assert.match(resultsOf((await run(undefined, NOTED, { settings: { permissions: { allow: ['Note'] } } })).messages), /noted/);
  assert.match(resultsOf((await run(own, NOTED, { settingSources: [], settings: '/home/settings.json' })).messages), /noted/);
  const managed = { permissions: { deny: ['Note'] } };
  assert.doesNotMatch(resultsOf((await run(own, NOTED, { configDir: '/home', managedSettings: managed })).messages), /noted/);
  const local = new Map([settings({ permissions: { deny: ['Note'] } }, '/w/.claude/settings.local.json')]);
  assert.doesNotMatch(resultsOf((await run(local, NOTED, { allowedTools: ['Note'] })).messages), /noted/);
});

test('card_4_instructions_agents_skills_commands_and_styles_are_read', async () => {
  const files = new Map([
    settings({ outputStyle: 'pirate' }),
    ['/w/CLAUDE.md', 'Use tabs. See @rules/more.md and @../secret.md.'],
    ['/w/rules/more.md', 'And no semicolons.'],
    ['/secret.md', 'A secret.'],
    ['/w/.claude/agents/scout.md', AGENT],
    ['/w/.claude/skills/pdf/SKILL.md', SKILL],
    ['/w/.claude/commands/review.md', COMMAND],
    ['/w/.claude/output-styles/pirate.md', STYLE],
  ]);
  const { init, requests, warnings } = await run(files, [{ respond: 'Done.' }], { systemPrompt: { type: 'preset', preset: 'claude_code' } }, '/review the parser');
  assert.ok(init.agents.includes('scout') && init.skills.includes('pdf') && init.slash_commands.includes('review'), JSON.stringify(init));
  assert.equal(init.output_style, 'pirate');
  const sent = JSON.stringify(requests[0]);
  for (const text of ['Use tabs.', 'And no semicolons.', 'Talk like a pirate.', 'Review the parser carefully.', 'Reads PDF files.', 'Looks around.']) {
    assert.ok(sent.includes(text), text);
  }
  assert.doesNotMatch(sent, /A secret/);
  assert.match(warnings, /it leads out of the project/);
  // What a command of an untrusted project asks for is not allowed by it.
  const asking = await run(files, NOTED, {}, '/review it');
  assert.doesNotMatch(resultsOf(asking.messages), /noted/);
  assert.match(resultsOf((await run(files, NOTED, { trustProject: true }, '/review it')).messages), /noted/);
  const none = await run(files, [{ respond: 'Done.' }], { settingSources: [] });
  assert.doesNotMatch(JSON.stringify(none.requests[0]), /Use tabs/);
  assert.equal((await run(files, [{ respond: 'Done.' }], { agent: 'scout' })).requests[0].system.at(-1).text.includes('You look around.'), true);
});

test('card_4_a_rule_closes_files_of_the_project_to_what_reads_them', async () => {
  const files = new Map([settings({ permissions: { deny: ['Read(private/**)'] } }), ['/w/CLAUDE.md', 'See @private/keys.md.'], ['/w/private/keys.md', 'The key is 7.']]);
  const { requests, warnings } = await run(files, [{ respond: 'Done.' }]);
  assert.doesNotMatch(JSON.stringify(requests[0]), /The key is 7/);
  assert.match(warnings, /\/w\/private\/keys\.md: a rule denies reading it/);
});

test('card_4_what_needs_programs_is_told_and_what_cannot_be_read_begins_no_session', async () => {
  const hooks = { PreToolUse: [{ matcher: 'Note', hooks: [{ type: 'command', command: 'check.sh' }] }] };
  const files = new Map([settings({ hooks, env: { A: 'b' }, sandbox: { enabled: true } }), ['/w/.mcp.json', '{"mcpServers":{}}']]);
  const { warnings } = await run(files, [{ respond: 'Done.' }], { trustProject: true });
  for (const told of [/not run: the hook `check\.sh`/, /`env`; no program/, /`sandbox`; no command/, /\.mcp\.json is not read: name its servers/]) {
    assert.match(warnings, told);
  }
  const untrusted = await run(files, [{ respond: 'Done.' }]);
  assert.match(untrusted.warnings, /do not run the hook `check\.sh`/);
  for (const [text, fault] of [
    ['{"permissions": {"deny": ["Note("]}}', /\/w\/\.claude\/settings\.json.*Note\(/s],
    ['{"permissions": ', /\/w\/\.claude\/settings\.json/],
    ['{"permissions": {"dney": ["Note"]}}', /dney/],
  ]) {
    await assert.rejects(run(new Map([['/w/.claude/settings.json', text]]), NOTED), fault);
  }
  assert.throws(() => new Agent({ settingSources: ['team'] }), /`settingSources` is a list of "user", "project" and "local"/);
  assert.throws(() => new Agent({ settingSources: ['user'], configDir: 'home' }), /`configDir` is an absolute path/);
  const off = new Map([settings({ permissions: { disableBypassPermissionsMode: 'disable' } })]);
  await assert.rejects(run(off, NOTED, { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }), /switched off in the settings/);
});

test('card_4_files_that_have_to_be_waited_for_are_read_as_well', async () => {
  const tree = new MemoryFileSystem({ files: { '/w/CLAUDE.md': 'Use tabs. @more.md', '/w/more.md': 'And spaces.', '/w/.claude/agents/a/scout.md': AGENT } });
  // A file system of the embedder, which answers later.
  const files = Object.fromEntries(['stat', 'read', 'list', 'change'].map((name) => [name, async (...asked) => tree[name](...asked)]));
  const { requests, init } = await run(files, [{ respond: 'Done.' }]);
  assert.match(JSON.stringify(requests[0]), /Use tabs.*And spaces|And spaces.*Use tabs/s);
  assert.ok(init.agents.includes('scout'));
});
