/** The shell without an operating system: what it runs, what it reaches, and where it ends. */
import './npm-packages.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load, testkit, windlass } from './package-under-test.js';

const { bashTool } = await load('shell.js');
const { Agent, MemoryFileSystem, tool } = windlass;

const bash = (command, more = {}) => ({ respond: { content: [{ type: 'tool_use', name: 'Bash', input: { command, ...more } }] } });

const FILES = {
  '/work/a.txt': 'alpha\nbeta\n',
  '/work/b.txt': 'two\n',
  '/work/d/in.txt': 'inner\n',
  '/work/secret/key.txt': 'hidden\n',
  '/other/x.txt': 'elsewhere\n',
};

/** Runs commands, one after the other, in one session; gives their results and the files. */
async function run(commands, { shell, files = new MemoryFileSystem({ files: FILES }), ...options } = {}) {
  const exchanges = [...commands.map((command) => (typeof command === 'string' ? bash(command) : command)), { respond: 'Done.' }];
  const model = await testkit.ScriptedModel.load({ exchanges });
  const agent = new Agent({ fetch: model.fetch, tools: [bashTool(shell)], files, cwd: '/work', ...options });
  const results = [];
  for await (const message of agent.query('Go.')) {
    if (message.type !== 'user') continue;
    const [{ content, is_error: isError }] = message.message.content;
    const text = typeof content === 'string' ? content : content.map((block) => block.text).join('');
    results.push({ text, isError: isError === true, output: message.tool_use_result });
  }
  return { results, files, text: results.at(-1).text };
}

/** Everything is approved as it is written. */
const approved = { canUseTool: (name, input) => ({ behavior: 'allow', updatedInput: input }) };

test('commands work on the files of the agent', async () => {
  const { results, files } = await run(['grep -n beta a.txt | cut -d: -f1', 'sed -i s/two/2/ b.txt && cp b.txt c.txt', 'mkdir -p e/f; mv c.txt e/f; ls e/f; rm -r d'], approved);
  assert.equal(results[0].text, '2');
  assert.deepEqual(results[0].output, { stdout: '2\n', stderr: '', interrupted: false, isImage: false });
  assert.equal(results[2].text, 'c.txt');
  assert.equal(files.readText('/work/e/f/c.txt'), '2\n');
  assert.equal(files.readText('/work/d/in.txt'), undefined);
});

test('what a rule allows runs as it was read, and not as the model wrote it', async () => {
  // Where two readers of one line could differ, the printed one has every text in quotes.
  const { results } = await run(['echo "a  b" | cat', "grep 'al*pha' a.txt", 'for f in *.txt; do cat "$f"; done', 'cat <<E\nhere\nE'], {
    allowedTools: ['Bash(echo:*)', 'Bash(cat:*)', 'Bash(grep:*)'],
  });
  assert.deepEqual(results.map(({ text }) => text), ['a  b', 'alpha', 'alpha\nbeta\ntwo', 'here']);
});

test('a closure gets the line that was judged, and the text only where it was approved whole', async () => {
  const got = [];
  const handler = ({ command }) => {
    got.push(command);
    return 'ran';
  };
  const model = await testkit.ScriptedModel.load({ exchanges: [bash('ls   "-l"'), { respond: 'Done.' }] });
  const closure = tool('Bash', '', { type: 'object' }, handler, { commandParam: 'command' });
  await new Agent({ fetch: model.fetch, tools: [closure], allowedTools: ['Bash(ls:*)'] }).run('Go.');
  const again = await testkit.ScriptedModel.load({ exchanges: [bash('ls   "-l"'), { respond: 'Done.' }] });
  await new Agent({ fetch: again.fetch, tools: [closure], ...approved }).run('Go.');
  assert.equal(got.length, 2);
  assert.match(got[0], /'command' 'ls' '-l'/);
  assert.equal(got[1], 'ls   "-l"');
});

test('without an approval nothing runs', async () => {
  const { results, files } = await run(['rm a.txt', 'cat a.txt'], { allowedTools: ['Bash(cat:*)'] });
  assert.equal(results[0].isError, true);
  assert.equal(files.readText('/work/a.txt'), FILES['/work/a.txt']);
  assert.equal(results[1].text, 'alpha\nbeta');
});

test('files that rules close are closed for every command, and cannot be carried away', async () => {
  const rules = { disallowedTools: ['Read(/secret/**)', 'Edit(/b.txt)'] };
  const commands = [
    'cat secret/key.txt',
    'f=secr; cat ${f}et/key.txt',
    'cat */key.txt; find . -name key.txt; grep -r hidden .',
    'mv secret open && cat open/key.txt',
    'cp -r secret open; cat open/key.txt',
    'rm -rf secret; rm -rf /work',
    'x=b.txt; echo new > $x; sed -i s/two/new/ $x; mv a.txt $x',
    'cd secret && cat key.txt',
  ];
  const { results, files } = await run(commands, { ...rules, ...approved });
  for (const { text } of results) assert.doesNotMatch(text, /hidden/, text);
  assert.equal(files.readText('/work/secret/key.txt'), 'hidden\n');
  assert.equal(files.readText('/work/b.txt'), 'two\n');
});

test('commands stay in the workspace', async () => {
  const { results, files } = await run(['cat /other/x.txt', 'echo 1 > /other/y.txt', 'cat ../other/x.txt', 'ls /other', 'cp -r /other .'], approved);
  for (const { text, isError } of results) assert.ok(isError && !/elsewhere/.test(text), text);
  assert.deepEqual(files.paths(), Object.keys(FILES).sort());
});

test('what a model writes does not become the program that a rule is about', async () => {
  const files = new MemoryFileSystem({ files: { '/a.txt': 'alpha\n', '/usr/bin/cat': 'echo evil\n', '/bin/cat': 'echo evil\n', '/cat': 'echo evil\n' } });
  const { results } = await run(['cat a.txt', 'echo "echo evil" > /bin/cat; cat a.txt', 'PATH=/; cat a.txt', 'cat a.txt'], {
    files,
    cwd: '/',
    ...approved,
  });
  assert.equal(results[0].text, 'alpha');
  assert.doesNotMatch(results[1].text, /^evil/m);
  assert.equal(results[3].text, 'alpha');
});

test('directory and variables last, and what means something to the shell does not', async () => {
  const { results } = await run(['cd d; x=5; export Y=6; IFS=,; PATH=/work', 'pwd; echo $x $Y; cat in.txt', 'cd /', 'pwd'], approved);
  assert.equal(results[1].text, '/work/d\n5 6\ninner');
  assert.equal(results[3].text, '/work/d');
});

test('commands of a pipeline change nothing of the shell', async () => {
  const { results } = await run(['cd d | cat; pwd; set -f | cat; echo *.txt', 'bash -c "cd d | cat; pwd"', 'echo x | { read y; echo $y; }'], approved);
  assert.deepEqual(results.map(({ text }) => text), ['/work\na.txt b.txt', '/work', 'x']);
});

test('a rule is about the directory in which the command runs', async () => {
  const { results } = await run(['cd d', 'cat in.txt'], { allowedTools: ['Bash(cd:*)', 'Bash(cat:*)'] });
  assert.equal(results[1].text, 'inner');
});

test('the working directory need not be there before, and time may be virtual', async () => {
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load({ exchanges: [bash('echo 1 > a; sleep 0.05; ls; pwd'), { respond: 'Done.' }] }, { clock });
  const agent = new Agent({ fetch: model.fetch, clock, tools: [bashTool()], cwd: '/made/here', ...approved });
  const results = [];
  for await (const message of agent.query('Go.')) if (message.type === 'user') results.push(message.tool_use_result.stdout);
  assert.deepEqual(results, ['a\n/made/here\n']);
  assert.equal(agent.files.readText('/made/here/a'), '1\n');
});

test('a command that is not there says that there is no other', async () => {
  const { results } = await run(['git status', 'curl http://127.0.0.1', 'python3 -c 1', 'nope'], approved);
  for (const { text, isError } of results) {
    assert.equal(isError, true);
    assert.match(text, /not in this shell, which has no operating system/);
  }
});

test('commands end: loops, recursion, output, time', async () => {
  const limits = { maxCommandCount: 2_000, maxLoopIterations: 1_000, maxOutputSize: 100_000 };
  const { results } = await run(
    ['while :; do :; done', 'f() { f; }; f', 'for i in 1 2 3 4 5 6 7 8 9 10; do seq 1 2000; done', bash('sleep 60', { timeout: 50 })],
    { shell: { limits }, ...approved },
  );
  assert.deepEqual(results.map(({ isError }) => isError), [true, true, true, true]);
  // Which limit it was, in the words of those who can change it.
  assert.match(results[0].text, /a limit of this shell \(`limits\.max\w+` of `bashTool`\)/);
  assert.doesNotMatch(results.map(({ text }) => text).join(), /executionLimits/);
  assert.match(results[3].text, /ran out of time after 50 ms/);
  const { text } = await run(['seq 1 9999'], approved);
  assert.match(text, /^1\n2\n[^]*characters of output are not shown[^]*9999$/);
  assert.ok(text.length < 31_000);
});

test('a loop that never waits is stopped in its time', async () => {
  const { text } = await run([bash('while :; do :; done', { timeout: 50 })], {
    shell: { limits: { maxCommandCount: 1e9, maxLoopIterations: 1e9 } },
    ...approved,
  });
  assert.match(text, /ran out of time after 50 ms/);
});

test('an interrupt stops a command, and nothing is written afterwards', async () => {
  const files = new MemoryFileSystem({ files: FILES });
  const model = await testkit.ScriptedModel.load({ exchanges: [bash('echo 1 > started; sleep 60; echo 2 > late'), { respond: 'Never.' }] });
  const agent = new Agent({ fetch: model.fetch, tools: [bashTool()], files, cwd: '/work', ...approved });
  const run = agent.query('Go.');
  const reading = (async () => {
    const messages = [];
    for await (const message of run) messages.push(message);
    return messages;
  })();
  while (files.readText('/work/started') === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
  await run.interrupt();
  const messages = await reading;
  assert.equal(messages.at(-1).subtype, 'error_during_execution');
  assert.equal(files.readText('/work/late'), undefined);
});

test('answers are no failures, and failures have their status', async () => {
  const { results } = await run(['grep nothing a.txt', 'exit 3', 'ls nowhere', 'echo out; echo err >&2; false'], approved);
  assert.deepEqual(results.map(({ isError }) => isError), [false, true, true, true]);
  assert.equal(results[0].text, 'No matches found');
  assert.equal(results[1].text, 'Exit code 3');
  assert.equal(results[3].text, 'Exit code 1\nout\nerr');
});

test('bytes come through as they are', async () => {
  const files = new MemoryFileSystem({ files: { '/work/bytes': Uint8Array.of(0, 255, 254, 128, 10), '/work/text': 'äöü €\n' } });
  const { text } = await run(['cp bytes copy; cat bytes > again; cat text; cat text | tr -d "\\n" | wc -c'], { files, ...approved });
  assert.deepEqual([...files.readFile('/work/copy')], [0, 255, 254, 128, 10]);
  assert.deepEqual([...files.readFile('/work/again')], [0, 255, 254, 128, 10]);
  assert.match(text, /^äöü €\n\s*10$/);
});

test('it works on any file system, and says what that refuses', async () => {
  const memory = new MemoryFileSystem({ files: FILES });
  const change = async (changes) => {
    if (changes.some(({ path }) => path.endsWith('full'))) throw new windlass.FileSystemError('full', 'there is no room');
    return memory.change(changes);
  };
  const files = { stat: (path) => memory.stat(path), list: (path) => memory.list(path), read: (path) => memory.read(path), change };
  const { results } = await run(['cp a.txt c.txt; cat d/in.txt > full', 'cat c.txt; ls'], { files, ...approved });
  assert.match(results[0].text, /no space left on device/);
  assert.equal(results[1].text, 'alpha\nbeta\na.txt\nb.txt\nc.txt\nd\nsecret');
  const readOnly = await run(['cat a.txt; echo 1 > new'], { files: { ...files, access: 'read' }, ...approved });
  assert.match(readOnly.text, /read-only file system/);
});

test('commands of the embedder are there, and the environment', async () => {
  const hello = { name: 'hello', execute: async (args) => ({ stdout: `hello ${args[0]}\n`, stderr: '', exitCode: 0 }) };
  const { text } = await run(['hello $WHO'], { shell: { env: { WHO: 'you' }, customCommands: [hello] }, allowedTools: ['Bash(hello:*)'] });
  assert.equal(text, 'hello you');
});
