/**
 * WASI 0.2 for components whose toolchain needs it, with nothing behind it beyond what the call was granted: clocks that stand still,
 * random bytes, the granted directories, what is printed in the log; no environment, no arguments, no input, no sockets.
 */
import { Descriptor, DirectoryEntryStream, errorCode, preopens } from './wasi-filesystem.js';
import { OpenFiles } from './wasi-open-files.js';
import { InputStream, IoError, OutputStream, Pollable, poll } from './wasi-streams.js';

/** What the monotonic clock shows, and the resolution of clocks, in nanoseconds; not 0, which some programs take for "not set". */
const NOW = 1_000_000_000n;
const RESOLUTION = 1_000_000;

/** Handles that a component holds at one time. */
const MOST_HANDLES = 1024;

/** Random bytes at once. */
const MOST_RANDOM = 1 << 20;

/**
 * The interfaces of one attempt of a call.
 *
 * @param {object} call
 * @param {() => void} call.count called before everything that is asked; may throw
 * @param {{ roots: () => object[], workingDirectory: () => string }} call.filesystem what it was granted, as `windlass:host/filesystem`
 * @param {(level: string, message: string) => void} call.log
 * @param {(length: number) => Uint8Array} call.random the same bytes in each attempt
 * @param {number} call.started when the call began, in milliseconds since 1970
 * @returns {{ interfaces: object, finish: () => void }} `finish` keeps files that the call has written and not closed
 */
export function wasi({ count, filesystem, log, random, started }) {
  const openFiles = new OpenFiles();
  const call = { count, log, openFiles, roots: filesystem.roots, hold: holder() };
  const counted = (functions) =>
    Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, (...given) => (count(), run(...given))]));
  const subscribe = () => new Pollable(call);
  const bytes = (length) => {
    if (length > MOST_RANDOM) throw new Error(`it asked for ${length} random bytes at once, the limit is ${MOST_RANDOM}`);
    return random(Number(length));
  };
  const number = () => new DataView(random(8).buffer).getBigUint64(0, true);
  const interfaces = {
    'wasi:cli/environment': counted({ getEnvironment: () => [], getArguments: () => [], initialCwd: () => filesystem.workingDirectory() }),
    'wasi:cli/exit': counted({ exit: ended, exitWithCode: ended }),
    'wasi:cli/stdin': counted({ getStdin: () => new InputStream(call) }),
    'wasi:cli/stdout': counted({ getStdout: () => OutputStream.printing(call, 'info') }),
    'wasi:cli/stderr': counted({ getStderr: () => OutputStream.printing(call, 'warn') }),
    'wasi:cli/terminal-input': { TerminalInput: class {} },
    'wasi:cli/terminal-output': { TerminalOutput: class {} },
    'wasi:cli/terminal-stdin': counted({ getTerminalStdin: () => undefined }),
    'wasi:cli/terminal-stdout': counted({ getTerminalStdout: () => undefined }),
    'wasi:cli/terminal-stderr': counted({ getTerminalStderr: () => undefined }),
    'wasi:clocks/monotonic-clock': counted({
      now: () => NOW,
      resolution: () => BigInt(RESOLUTION),
      // Waiting takes no time, as the clock would not show it.
      subscribeInstant: subscribe,
      subscribeDuration: subscribe,
    }),
    'wasi:clocks/wall-clock': counted({
      now: () => ({ seconds: BigInt(Math.floor(started / 1000)), nanoseconds: Math.floor(started % 1000) * 1_000_000 }),
      resolution: () => ({ seconds: 0n, nanoseconds: RESOLUTION }),
    }),
    'wasi:filesystem/preopens': { getDirectories: preopens(call) },
    'wasi:filesystem/types': { Descriptor, DirectoryEntryStream, ...counted({ filesystemErrorCode: errorCode }) },
    'wasi:io/error': { Error: IoError },
    'wasi:io/poll': { Pollable, poll: poll(call) },
    'wasi:io/streams': { InputStream, OutputStream },
    'wasi:random/random': counted({ getRandomBytes: bytes, getRandomU64: number }),
    'wasi:random/insecure': counted({ getInsecureRandomBytes: bytes, getInsecureRandomU64: number }),
    'wasi:random/insecure-seed': counted({ insecureSeed: () => [number(), number()] }),
    ...sockets(counted),
  };
  return { interfaces, finish: () => openFiles.keepAll() };
}

/** Sockets, which nobody gets: the functions that make one are refused, and the resources have no other way to come about. */
function sockets(counted) {
  class Network {}
  const refuse = () => {
    throw 'access-denied';
  };
  return {
    'wasi:sockets/network': { Network, ...counted({ networkErrorCode: () => undefined }) },
    'wasi:sockets/instance-network': counted({ instanceNetwork: () => new Network() }),
    'wasi:sockets/ip-name-lookup': { ResolveAddressStream: class {}, ...counted({ resolveAddresses: refuse }) },
    'wasi:sockets/tcp': { TcpSocket: class {} },
    'wasi:sockets/tcp-create-socket': counted({ createTcpSocket: refuse }),
    'wasi:sockets/udp': { UdpSocket: class {}, IncomingDatagramStream: class {}, OutgoingDatagramStream: class {} },
    'wasi:sockets/udp-create-socket': counted({ createUdpSocket: refuse }),
  };
}

/** Counts handles, each until the component drops it. */
function holder() {
  const dispose = Symbol.dispose ?? Symbol.for('dispose');
  let live = 0;
  return (handle, dropped = () => {}, weight = 1) => {
    live += weight;
    if (live > MOST_HANDLES) throw new Error(`it held more than ${MOST_HANDLES} handles at one time`);
    handle[dispose] = () => {
      live -= weight;
      dropped();
    };
  };
}

function ended() {
  throw new Error('it ended itself by `exit`');
}
