/** A program that serves until it is ended, such as a development server. */
import { spawn } from 'node:child_process';

/** How long one may take until it serves, in milliseconds: past it something hangs. */
const LIMIT_MS = 60_000;

/**
 * Starts a program, and waits until it says where it serves.
 *
 * @param {{ cwd: string, env?: object }} where
 * @param {RegExp} address finds the address in what it says, in its first group
 * @param {string[]} command
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startService({ cwd, env = {} }, address, [program, ...args]) {
  // A group of its own, so that nothing of what it starts stays.
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  let said = '';
  try {
    const url = await new Promise((resolve, reject) => {
      const read = (piece) => {
        said += piece;
        const found = address.exec(said);
        if (found) resolve(found[1]);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      ended.then((code) => reject(new Error(`it ended with ${code}`)));
      setTimeout(() => reject(new Error(`it does not serve after ${LIMIT_MS} ms`)), LIMIT_MS).unref();
    });
    return { url, stop };
  } catch (error) {
    await stop();
    throw new Error(`${program} ${args.join(' ')}: ${error.message}\n${said}`);
  }
}
