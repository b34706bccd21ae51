/** The edge runtime with the probe of requests in it, on loopback. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workerdProgram } from '../edge/workerd.js';
import { directory } from '../package-under-test.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const OWN = ['worker.js', 'probe.js', 'run-probe.js'];

/** Starts it; `run` sends what to run, and gives what came of it. */
export async function openWorkerd() {
  const folder = mkdtempSync(join(tmpdir(), 'windlass-network-'));
  const names = readdirSync(directory).filter((name) => /\.(js|wasm)$/.test(name));
  for (const name of names) cpSync(join(directory, name), join(folder, name));
  for (const name of OWN) cpSync(join(HERE, name), join(folder, name));
  writeFileSync(join(folder, 'config.capnp'), configuration([...OWN, ...names]));
  const child = spawn(workerdProgram(), ['serve', join(folder, 'config.capnp'), '--experimental', '--control-fd=3'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise((resolve, reject) => {
    let said = '';
    child.once('exit', (code) => reject(new Error(`workerd ended with ${code} before it listened`)));
    child.stdio[3].on('data', (piece) => {
      said += piece;
      const listening = said.split('\n').find((line) => line.includes('"listen"'));
      if (listening) resolve(JSON.parse(listening).port);
    });
  });
  return {
    async run(inputs, options) {
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify({ inputs, options }) });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return JSON.parse(text);
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function configuration(names) {
  const modules = names.map((name) => {
    const kind = name.endsWith('.wasm') ? 'wasm' : 'esModule';
    return `(name = ${JSON.stringify(name)}, ${kind} = embed ${JSON.stringify(name)})`;
  });
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.join(', ')}],
  compatibilityDate = "2026-01-01",
);
`;
}
