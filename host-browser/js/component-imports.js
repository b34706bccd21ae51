/** What a component can call while it runs: the interfaces `windlass:host`, with the limits of one call. */
import { networkOf } from './component-http.js';
import { MOST_BYTES, MOST_VALUES, sizeOf } from './plugin-state.js';

/** Calls of functions of the host, and bytes of log messages, when a component declares nothing less. */
const HOST_CALLS = 1_000_000;
const LOG = 64 << 10;

/** Reports of progress of one call, and characters of the longest one; what is more is left out. */
const REPORTS = 100;
const LONGEST_REPORT = 200;

/** Bytes of a key and of a value that a plugin remembers. */
const LONGEST_KEY = 120;
const LARGEST_VALUE = 1 << 20;

/**
 * The imports of one call.
 *
 * @param {object} plugin
 * @param {object} plugin.grant what it declares and was granted: `state`, `env`, `roles`, `network`
 * @param {object} plugin.limits as declared
 * @param {object} call
 * @param {(count: () => void, lasting?: object) => object} call.files what the call sees of the files: see `filesystemOf`
 * @param {import('./recorded-requests.js').RecordedRequests} [call.requests] sends what it was granted to send; left out if that is nothing
 * @param {Map<string, Uint8Array>} call.state what the plugin remembers
 * @param {(text: string) => void} call.progress
 * @param {(level: string, message: string) => void} call.log
 * @param {(length: number) => Uint8Array} call.random the same bytes in each attempt of a call
 * @param {number} call.started when the call began, in milliseconds since 1970
 * @param {object} [lasting] of an instance that is kept: see `filesystemOf`
 * @returns {{ interfaces: object, finish: () => void }} `finish` is called when the component has done its work; may throw
 */
export function importsOf({ grant, limits, wasi = noWasi }, { files, requests, state, progress, log, random, started }, lasting) {
  const { count, end } = counter(least(limits.host_calls, HOST_CALLS));
  const counted = (functions) =>
    Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, (...given) => (count(), run(...given))]));
  const writeLog = logger(log, least(limits.log_bytes, LOG));
  // What it asks of files is counted by WASI itself.
  const { interfaces, finish } = wasi({ count, filesystem: files(() => {}), log: writeLog, random, started });
  const { http, secrets } = networkOf(grant, { requests, log }, count);
  const all = {
    ...interfaces,
    'windlass:host/types': {},
    'windlass:host/filesystem': files(count, lasting),
    'windlass:host/http': { Body: http.Body, ...counted({ send: http.send }) },
    'windlass:host/secrets': counted(secrets),
    'windlass:host/state': counted(grant.state ? remembering(state) : REMEMBERING_NOTHING),
    'windlass:host/config': counted({ get: settings(grant) }),
    'windlass:host/progress': counted({ report: reporter(progress) }),
    'windlass:host/log': counted({ log: writeLog }),
    'windlass:plugin/types': {},
    'windlass:plugin/hooks': {},
  };
  return { interfaces: all, finish: () => (finish(), end()) };
}

function noWasi() {
  return { interfaces: {}, finish() {} };
}

/** With what the names begin by which a component finds the directories of its roles. No variable that it declares is called so. */
const ROLE_SETTING = 'directory:';

/** What a component reads with `config`. */
function settings({ env, roles }) {
  return (name) => (name.startsWith(ROLE_SETTING) ? roles.path(name.slice(ROLE_SETTING.length)) : env.get(name));
}

/** These interfaces and no other, for an instance that is made: what imports more is told so. */
export function handedOut(interfaces) {
  return new Proxy(interfaces, {
    get(known, name) {
      if (!Object.hasOwn(known, name)) {
        const more = String(name).startsWith('wasi:') && !known['wasi:io/streams'] ? ': give the plugin `wasi` of `windlass/wasi`' : '';
        throw new Error(`it imports \`${String(name)}\`, which this host does not hand out${more}`);
      }
      return known[name];
    },
  });
}

/** What a component declares to need, where that is less than the most there is. */
export function least(declared, most) {
  return Math.min(declared ?? most, most);
}

/** Counts calls of the host, until the call of the component has ended: what an instance that is kept has of it goes no further. */
function counter(limit) {
  let left = limit;
  let isOver = false;
  const count = () => {
    if (isOver) throw new Error('it used something of an earlier call, which ended with that');
    left -= 1;
    // No case of a WIT error: it ends the call.
    if (left < 0) throw new Error(`it called the host more than ${limit} times (\`host_calls\`)`);
  };
  return { count, end: () => (isOver = true) };
}

function notGranted() {
  throw 'not-granted';
}

const REMEMBERING_NOTHING = { get: notGranted, set: notGranted, remove: notGranted, keys: notGranted };

function remembering(values) {
  const key = (given) => {
    const bytes = new TextEncoder().encode(given).length;
    if (bytes === 0 || bytes > LONGEST_KEY || /\p{Cc}/u.test(given)) throw 'invalid';
    return given;
  };
  return {
    get: (name) => values.get(key(name))?.slice(),
    set(name, value) {
      const others = [...values].filter(([other]) => other !== key(name));
      const bytes = others.reduce((sum, entry) => sum + sizeOf(entry), sizeOf([name, value]));
      if (value.length > LARGEST_VALUE || bytes > MOST_BYTES || others.length >= MOST_VALUES) throw 'full';
      values.set(name, Uint8Array.from(value));
    },
    remove(name) {
      values.delete(key(name));
    },
    keys: (prefix) => [...values.keys()].filter((name) => name.startsWith(prefix)).sort(),
  };
}

function reporter(tell) {
  let left = REPORTS;
  return (message, fraction) => {
    left -= 1;
    if (left < 0) return;
    const text = [...message.slice(0, 2 * LONGEST_REPORT)].slice(0, LONGEST_REPORT).join('');
    tell(fraction >= 0 && fraction <= 1 ? `${text} (${Math.round(fraction * 100)} %)` : text);
  };
}

function logger(write, limit) {
  let left = limit;
  return (level, message) => {
    // No character has less than a byte.
    const bytes = new TextEncoder().encode(message.slice(0, left)).subarray(0, left);
    left -= bytes.length;
    // What was cut in two is left out.
    const kept = new TextDecoder().decode(bytes, { stream: true });
    if (kept !== '') write(level, kept);
  };
}
