/** A component as jco would hand it over, in JavaScript: what it does is said by its input. */
const text = (value) => ({ content: [{ tag: 'text', val: String(value) }], isError: false, observed: [] });

/** A module with a memory of one page, which grows by its function `grow`. */
const MEMORY = 'data:application/wasm;base64,AGFzbQEAAAABBgFgAX8BfwMCAQAFAwEAAQcIAQRncm93AAAKCAEGACAAQAAL';

export async function instantiate(getCoreModule, imports) {
  const files = imports['windlass:host/filesystem'];
  const { exports } = await WebAssembly.instantiate(await getCoreModule(MEMORY));
  const inRoot = (run) => {
    const [root] = files.roots();
    if (!root) return 'no root';
    try {
      return run(root.directory);
    } catch (error) {
      return `refused: ${error}`;
    }
  };
  const deeds = {
    loop: () => {
      for (;;) imports['windlass:host/config'].get;
    },
    roots: () => files.roots().map(({ access, path }) => `${access} ${path}`),
    read: ({ path }) => inRoot((directory) => new TextDecoder().decode(directory.read(path, 0, 1000))),
    list: () => inRoot((directory) => directory.list('', undefined, false).entries.map(({ name }) => name)),
    write: ({ path, content }) => {
      return inRoot((directory) => directory.write(path, new TextEncoder().encode(content), { createParents: true }) ?? 'written');
    },
    grow: ({ pages }) => exports.grow(pages),
    remember: ({ value }) => {
      const state = imports['windlass:host/state'];
      const before = state.get('value');
      state.set('value', new TextEncoder().encode(value));
      return before ? new TextDecoder().decode(before) : 'nothing';
    },
    tell: () => {
      imports['windlass:host/progress'].report('half', 0.5);
      imports['windlass:host/log'].log('info', 'told');
      return 'told';
    },
    trap: () => {
      throw new WebAssembly.RuntimeError('unreachable');
    },
  };
  return {
    call: ({ input }) => {
      const asked = JSON.parse(input);
      return { ...text(deeds[asked.do](asked)), observed: asked.observed ?? [] };
    },
    judge: ({ input }) => (input.includes('forbidden') ? { tag: 'deny', val: 'the probe forbids it' } : { tag: 'pass' }),
  };
}
