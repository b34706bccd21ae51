/** Tool components: their declarations, and calls in fresh instances. */

/** The custom section of a component that holds its declaration. */
const DECLARATION_SECTION = 'windlass:plugin';

/**
 * The tools of a component that `jco transpile --instantiation async` turned into JavaScript.
 *
 * A call sees what it was granted and nothing else: the file system view of its grant, no network, no clock.
 */
export class Plugin {
  #instantiate;
  #module;
  #modules = new Map();
  #tail = Promise.resolve();

  /**
   * @param {{ name: string, tools: object[] }} declaration what {@link declarationOf} reads from the component
   * @param {Function} instantiate what the transpiled module exports
   * @param {(path: string) => Promise<WebAssembly.Module>} module loads a core module that belongs to it
   */
  constructor(declaration, instantiate, module) {
    // A judge that nobody asks would let everything pass.
    if (declaration.hooks?.length) {
      throw new Error(`The component ${declaration.name} has hooks, and this host runs tools only`);
    }
    this.name = declaration.name;
    this.tools = declaration.tools;
    this.#instantiate = instantiate;
    this.#module = module;
  }

  /**
   * Answers a call; gives the result as JSON. One at a time: a component runs on this very thread, so calls that
   * run beside each other would only finish in an order that nobody can foretell.
   *
   * @param {{ name: string, observed: object[] }} call
   * @param {string} input the input as the model spelled it
   */
  call(call, input, { files, log = () => {} }) {
    const done = this.#tail.then(() => this.#run(call, input, files, log));
    this.#tail = done.catch(() => {});
    return done;
  }

  async #run({ name, observed }, input, files, log) {
    const imports = {
      'windlass:host/types': {},
      'windlass:host/filesystem': files,
      'windlass:host/http': NO_NETWORK,
      'windlass:host/secrets': NO_SECRETS,
      'windlass:host/state': NO_STATE,
      'windlass:host/config': { get: () => undefined },
      'windlass:host/progress': { report() {} },
      'windlass:host/log': { log },
      'windlass:plugin/types': {},
    };
    const instance = await this.#instantiate((path) => this.#compiled(path), imports);
    let result;
    try {
      result = instance.call({ name, input, observed });
    } catch (cause) {
      throw new Error(`The component ${this.name} stopped in the middle of the call: ${cause?.message ?? cause}`, { cause });
    }
    const json = JSON.stringify({
      content: result.content.map(block),
      is_error: result.isError,
      observed: result.observed.map((seen) => ({ path: seen.path, digest: seen.digest, whole: seen.whole })),
    });
    // The structured output is JSON already; reading and writing it would respell its numbers.
    return `${json.slice(0, -1)},"structured":${result.structured ?? 'null'}}`;
  }

  /** Compiled once; instances are what is fresh. */
  #compiled(path) {
    if (!this.#modules.has(path)) this.#modules.set(path, this.#module(path));
    return this.#modules.get(path);
  }
}

/** What the resource `body` would be. */
class Body {}

const NO_NETWORK = {
  Body,
  send() {
    throw { tag: 'refused', val: 'this component was granted no network' };
  },
};

const NO_SECRETS = { available: () => false, send: NO_NETWORK.send };

function noState() {
  throw 'not-granted';
}

const NO_STATE = { get: noState, set: noState, remove: noState, keys: noState };

function block({ tag, val }) {
  if (tag === 'text') return { type: 'text', text: val };
  return { type: 'image', source: { type: 'base64', media_type: val.mediaType, data: base64(val.data) } };
}

function base64(bytes) {
  // In pieces: a call takes only so many arguments.
  const PIECE = 0x8000;
  let text = '';
  for (let start = 0; start < bytes.length; start += PIECE) {
    text += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  }
  return btoa(text);
}

/**
 * The declaration that a component carries in a custom section.
 * @param {Uint8Array} component
 */
export function declarationOf(component) {
  const found = [...customSections(component)].filter(([name]) => name === DECLARATION_SECTION);
  if (found.length !== 1) {
    throw new Error(`the component has ${found.length} custom sections \`${DECLARATION_SECTION}\`, and needs one`);
  }
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(found[0][1]));
}

/** The custom sections at the top level: names and contents. */
function* customSections(bytes) {
  const MAGIC = [0, 0x61, 0x73, 0x6d];
  if (bytes.length < 8 || MAGIC.some((byte, i) => bytes[i] !== byte)) throw new Error('not WebAssembly');
  let at = 8;
  while (at < bytes.length) {
    const id = bytes[at];
    const [size, start] = leb128(bytes, at + 1);
    const end = start + size;
    if (end > bytes.length) throw new Error(`damaged WebAssembly: the section at byte ${at} does not fit the file`);
    if (id === 0) {
      const [length, from] = leb128(bytes, start);
      yield [new TextDecoder().decode(bytes.subarray(from, from + length)), bytes.subarray(from + length, end)];
    }
    at = end;
  }
}

/** An unsigned number of at most 32 bits at a place, and the place after it. */
function leb128(bytes, at) {
  let value = 0;
  for (let i = 0; i < 5 && at + i < bytes.length; i += 1) {
    const byte = bytes[at + i];
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return [value, at + i + 1];
  }
  throw new Error(`damaged WebAssembly: no number at byte ${at}`);
}
