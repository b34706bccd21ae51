/** The edge runtime, on loopback: started, killed and started again over the same storage. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** A worker of the package in a directory, whose model server is at `model`. */
export class Workerd {
  #folder = mkdtempSync(join(tmpdir(), 'windlass-edge-'));
  #child;
  #port;

  constructor(packageDirectory, model) {
    mkdirSync(join(this.#folder, 'storage'));
    // A configuration embeds what lies beside it.
    const names = readdirSync(packageDirectory).filter((name) => /\.(js|wasm)$/.test(name));
    for (const name of names) cpSync(join(packageDirectory, name), join(this.#folder, name));
    cpSync(join(HERE, 'worker.js'), join(this.#folder, 'worker.js'));
    writeFileSync(join(this.#folder, 'config.capnp'), configuration(['worker.js', ...names], model, join(this.#folder, 'storage')));
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

function configuration(names, model, storage) {
  const modules = names.map((name) => {
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule';
    return `(name = ${JSON.stringify(name)}, ${kind} = embed ${JSON.stringify(name)})`;
  });
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "storage", disk = (path = ${JSON.stringify(storage)}, writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["enable_request_signal", "request_signal_passthrough"],
  bindings = [
    (name = "SESSIONS", durableObjectNamespace = "SessionObject"),
    (name = "IMPATIENT", durableObjectNamespace = "ImpatientObject"),
    (name = "CHECK", durableObjectNamespace = "StoreCheck"),
    (name = "MODEL", text = ${JSON.stringify(model)}),
  ],
  durableObjectNamespaces = [
    (className = "SessionObject", uniqueKey = "sessions", enableSql = true),
    (className = "ImpatientObject", uniqueKey = "impatient", enableSql = true),
    (className = "StoreCheck", uniqueKey = "check", enableSql = true),
  ],
  durableObjectStorage = (localDisk = "storage"),
);
`;
}
