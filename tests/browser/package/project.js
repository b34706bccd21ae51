/** A fresh project outside the repository, into which the packed package is installed as from the registry. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where the packages of the tests are. */
const PACKAGES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

export class Project {
  #folder = realpathSync(mkdtempSync(join(tmpdir(), 'windlass-project-')));

  /**
   * @param {string} tarball what `pack` made
   * @param {Record<string, string>} files by their paths
   */
  static async create(tarball, files) {
    const project = new Project();
    project.write({ 'package.json': JSON.stringify({ name: 'project', private: true, type: 'module' }), ...files });
    await project.npm('install', '--offline', tarball);
    return project;
  }

  path(...parts) {
    return join(this.#folder, ...parts);
  }

  write(files) {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(path)), { recursive: true });
      writeFileSync(this.path(path), text);
    }
  }

  /** Takes packages from those of the tests, which have their own dependencies beside them. */
  link(...names) {
    for (const name of names) {
      mkdirSync(dirname(this.path('node_modules', name)), { recursive: true });
      symlinkSync(join(PACKAGES, name), this.path('node_modules', name));
      this.#linkPrograms(name);
    }
  }

  /** As npm does, so that `npx` finds them. */
  #linkPrograms(name) {
    const { bin = {} } = JSON.parse(readFileSync(this.path('node_modules', name, 'package.json'), 'utf8'));
    const programs = typeof bin === 'string' ? { [name.split('/').at(-1)]: bin } : bin;
    mkdirSync(this.path('node_modules/.bin'), { recursive: true });
    for (const [program, file] of Object.entries(programs)) {
      symlinkSync(this.path('node_modules', name, file), this.path('node_modules/.bin', program));
    }
  }

  /** Takes packages from another folder as copies, for tools that follow no links out of a project. */
  copy(packages, ...names) {
    for (const name of names) cpSync(join(packages, name), this.path('node_modules', name), { recursive: true });
  }

  npm(command, ...args) {
    return this.run('npm', command, '--no-audit', '--no-fund', '--ignore-scripts', ...args);
  }

  /** Runs a program in the project; gives what it printed. */
  async run(program, ...args) {
    return this.runWith({}, program, ...args);
  }

  async runWith(env, program, ...args) {
    const options = { cwd: this.#folder, env: { ...process.env, ...env }, maxBuffer: 1 << 24 };
    const { stdout } = await run(program, args, options).catch((error) => {
      throw new Error(`${error.message}\n${error.stdout}`);
    });
    return stdout;
  }

  remove() {
    rmSync(this.#folder, { recursive: true });
  }
}

/** Packs the package as it would be published; gives the path of the file. */
export async function pack(directory, goal) {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', goal], { cwd: directory, maxBuffer: 1 << 24 });
  return join(goal, JSON.parse(stdout)[0].filename);
}
