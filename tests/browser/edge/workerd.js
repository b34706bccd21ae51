/** The edge runtime, on loopback: started, killed and started again over the same storage. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** The program of this platform; `undefined` where npm has none. */
export function workerdProgram() {
  const require = createRequire(import.meta.url);
  const { platform, arch } = process;
  try {
    return require.resolve(`@cloudflare/workerd-${platform}-${arch === 'x64' ? '64' : arch}/bin/workerd`);
  } catch {
    return undefined;
  }
}

/** A worker that imports the package. */
export class Workerd {
  #folder = mkdtempSync(join(tmpdir(), 'windlass-edge-'));
  #child;
  #port;

  /**
   * @param {object} parts
   * @param {string} parts.directory the package
   * @param {string} parts.worker the module of the worker: a path, or its name beside this file
   * @param {Record<string, string>} [parts.files] further modules: their names for the worker, and where they are
   * @param {Record<string, string>} [parts.texts] bindings that are texts
   * @param {Record<string, string>} [parts.objects] bindings to Durable Objects, by the names of their classes
   * @param {string[]} [parts.v8Flags]
   */
  constructor({ directory, worker, files = {}, texts = {}, objects = {}, v8Flags = [] }) {
    mkdirSync(join(this.#folder, 'storage'));
    // A configuration embeds what lies beside it.
    const ofPackage = readdirSync(directory).map((name) => [name, join(directory, name)]);
    const modules = new Map([['worker.js', resolve(HERE, worker)], ...ofPackage, ...Object.entries(files)]);
    const names = [...modules.keys()].filter((name) => /\.(js|wasm)$/.test(name));
    for (const name of names) cpSync(modules.get(name), join(this.#folder, name));
    const storage = join(this.#folder, 'storage');
    writeFileSync(join(this.#folder, 'config.capnp'), configuration(names, { texts, objects, storage, v8Flags }));
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start() {
    const args = ['serve', join(this.#folder, 'config.capnp'), '--experimental', '--control-fd=3'];
    this.#child = spawn(workerdProgram(), args, { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    this.#port = await new Promise((resolve, reject) => {
      let said = '';
      this.#child.once('exit', (code) => reject(new Error(`workerd ended with ${code} before it listened`)));
      this.#child.stdio[3].on('data', (piece) => {
        said += piece;
        const listening = said.split('\n').find((line) => line.includes('"listen"'));
        if (listening) resolve(JSON.parse(listening).port);
      });
    });
  }

  /** Ends it at once, wherever it is. */
  async kill() {
    const ended = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.kill('SIGKILL');
    await ended;
  }

  async remove() {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await this.kill();
    rmSync(this.#folder, { recursive: true });
  }
}

function configuration(names, { texts, objects, storage, v8Flags }) {
  const quoted = JSON.stringify;
  const modules = names.map((name) => {
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule';
    return `(name = ${quoted(name)}, ${kind} = embed ${quoted(name)})`;
  });
  const bindings = [
    ...Object.entries(texts).map(([name, text]) => `(name = ${quoted(name)}, text = ${quoted(text)})`),
    ...Object.entries(objects).map(([name, of]) => `(name = ${quoted(name)}, durableObjectNamespace = ${quoted(of)})`),
  ];
  const namespaces = Object.values(objects).map((of) => `(className = ${quoted(of)}, uniqueKey = ${quoted(of)}, enableSql = true)`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "storage", disk = (path = ${quoted(storage)}, writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  v8Flags = ${quoted(v8Flags)},
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["enable_request_signal", "request_signal_passthrough"],
  bindings = [${bindings.join(', ')}],
  durableObjectNamespaces = [${namespaces.join(', ')}],
  durableObjectStorage = (localDisk = "storage"),
);
`;
}
