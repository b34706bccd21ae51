/**
 * Runs lines in npm `just-bash`, the shell of pages, among programs that only record that they ran: a request in a line of JSON
 * (`{ text, work, input }`), an outcome in a line. It ends with its input.
 *
 * The files are those of the directory `work`, in memory. What is a program of the system to a stage is one of the shell here.
 */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Bash, InMemoryFs } from 'just-bash/browser';
import { subshells } from '../../host-browser/js/shell-subshells.js';

/** Programs that only record that they ran, and do a little. */
const FAKES = ['ls', 'git', 'cat', 'grep', 'wc', 'npm', 'CAN', 'id', 'make', 'prlimit', 'choom', 'setarch', 'start-stop-daemon'];

/** Programs that record that they ran, and do what they do. */
const EDITS = ['touch', 'rm', 'mkdir', 'mv', 'cp'];

/** How names of variables begin that change how programs are found or started. */
const TELLING = /^(LD_|BASH_|GIT_|ENV)/;

const PATH = '/usr/bin:/bin';
const LIMITS = { maxExecutionTimeMs: 5_000, maxCommandCount: 5_000, maxLoopIterations: 2_000, maxCallDepth: 50, maxOutputSize: 1 << 20 };

const stages = new Map();

for await (const request of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await run(JSON.parse(request))));
}

async function run({ text, work, input }) {
  if (!stages.has(work)) stages.set(work, filesOf(work));
  const before = stages.get(work);
  const fs = new InMemoryFs(Object.fromEntries(before.map(([name, file]) => [`${work}/${name}`, file])));
  const ran = [];
  const bash = new Bash({
    fs,
    cwd: work,
    env: { HOME: join(dirname(work), 'home'), LC_ALL: 'C' },
    customCommands: commands(ran, work),
    executionLimits: LIMITS,
    defenseInDepth: false,
  });
  bash.registerTransformPlugin(subshells);
  let ended;
  try {
    ended = await bash.exec(text, { rawScript: true, stdin: input });
  } catch (error) {
    ended = { stdout: '', stderr: `${error?.message ?? error}\n`, exitCode: 126 };
  }
  const { stdout, stderr, exitCode } = ended;
  return { stdout, stderr, status: exitCode === 124 ? null : exitCode, ran, files: await changes(fs, work, before) };
}

function commands(ran, work) {
  const note = (program, args, { cwd, env }) => {
    const names = [...env.keys()].filter((name) => TELLING.test(name)).sort();
    const variables = names.map((name) => `${name}=${env.get(name)}`).join(' ');
    const folder = cwd === work ? '' : cwd.startsWith(`${work}/`) ? `${cwd.slice(work.length + 1)}/` : cwd;
    ran.push({ program, arguments: args, folder, path_is_whole: env.get('PATH') === PATH, variables });
  };
  const fake = (name) => ({
    name,
    execute: async (args, context) => {
      note(name, args, context);
      return behave(name, args, context);
    },
  });
  const edit = (name) => ({
    name,
    execute: async (args, context) => {
      note(name, args, context);
      const { stdout, stderr, exitCode } = await new Bash({ fs: context.fs, cwd: context.cwd, defenseInDepth: false }).exec(name, { args });
      return { stdout, stderr, exitCode };
    },
  });
  /** What a program that lies in the working directory consists of. */
  const byPath = {
    name: '__program',
    execute: async ([program, ...args], context) => {
      note(program, args, context);
      return { stdout: '', stderr: '', exitCode: 0 };
    },
  };
  return [...FAKES.map(fake), ...EDITS.map(edit), byPath];
}

/** Does what the name stands for, as `src/fake/main.rs` does. */
async function behave(name, args, { fs, cwd, stdin }) {
  const said = (stdout, exitCode = 0, stderr = '') => ({ stdout, stderr, exitCode });
  switch (name) {
    case 'ls':
      return said(args.map((word) => `<${word}>\n`).join(''));
    case 'wc':
      return said(`${stdin.length}\n`);
    case 'grep': {
      const found = stdin.split('\n').filter((line) => line !== '' && line.includes(args.at(-1) ?? ''));
      return said(found.map((line) => `${line}\n`).join(''), found.length > 0 ? 0 : 1);
    }
    case 'git':
      return said(`git: ${args.join('|')}\n`);
    case 'npm':
      return said('', 3, `npm: ${args.length} words\n`);
    case 'cat': {
      if (args.length === 0) return said(stdin);
      const read = await Promise.all(args.map((file) => fs.readFileBytes(fs.resolvePath(cwd, file)).catch(() => undefined)));
      const missing = args.filter((_, at) => read[at] === undefined).map((file) => `cat: ${file}\n`);
      return said(read.filter((text) => text !== undefined).join(''), missing.length > 0 ? 1 : 0, missing.join(''));
    }
    default:
      return said('');
  }
}

/** The files of a directory: name and content. A program is one that records its path. */
function filesOf(directory, prefix = '') {
  return readdirSync(`${directory}/${prefix}`, { withFileTypes: true }).flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) return filesOf(directory, `${name}/`);
    if (statSync(`${directory}/${name}`).nlink === 1) return [[name, { content: readFileSync(`${directory}/${name}`), mode: 0o644 }]];
    const path = name.includes('/') ? name : `./${name}`;
    return [[name, { content: `#!/bin/bash\n__program '${path}' "$@"\n`, mode: 0o755 }]];
  });
}

/** What is new, other or gone in the working directory. */
async function changes(fs, work, before) {
  const changed = {};
  const now = new Set(fs.getAllPaths().filter((path) => path.startsWith(`${work}/`)));
  const known = new Map(before.map(([name, { content }]) => [name, Buffer.from(content)]));
  const folders = new Set(before.flatMap(([name]) => name.split('/').slice(0, -1).map((_, at, all) => all.slice(0, at + 1).join('/'))));
  for (const path of now) {
    const name = path.slice(work.length + 1);
    if ((await fs.lstat(path)).isDirectory) {
      if (!folders.has(name)) changed[`${name}/`] = '';
      continue;
    }
    const content = Buffer.from(await fs.readFileBuffer(path).catch(() => '(unreadable)'));
    if (!known.get(name)?.equals(content)) changed[name] = content.toString('latin1');
  }
  for (const name of [...known.keys(), ...folders]) {
    if (!now.has(`${work}/${name}`)) changed[name] = '(gone)';
  }
  return changed;
}
