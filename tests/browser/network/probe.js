/** A component as jco would hand it over, in JavaScript: which requests it sends is said by its input. */
const encode = (text) => new TextEncoder().encode(text);
const decode = (bytes) => new TextDecoder().decode(bytes);

/** How often it was begun. */
let begun = 0;

export async function instantiate(getCoreModule, imports) {
  begun += 1;
  const http = imports['windlass:host/http'];
  const secrets = imports['windlass:host/secrets'];

  const requestOf = ({ method = 'GET', url, headers = {}, pairs = Object.entries(headers), body }) => {
    return { method, url, headers: pairs.map(([name, value]) => ({ name, value })), body: body === undefined ? [] : [encode(body)] };
  };
  const read = (body) => {
    let text = '';
    for (let piece = body.read(1000); piece.length > 0; piece = body.read(1000)) text += decode(piece);
    return text;
  };
  const outcome = (run) => {
    try {
      const { status, headers, body } = run();
      return { status, headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])), body: read(body) };
    } catch (failure) {
      if (failure?.tag === undefined) throw failure;
      return { failure: failure.tag, why: failure.val };
    }
  };
  const send = (step) => outcome(() => (step.secrets ? secrets.send(requestOf(step), step.secrets) : http.send(requestOf(step))));

  const deeds = {
    send: ({ steps }) => steps.map(send),
    available: ({ names }) => names.map((name) => secrets.available(name)),
    flood: ({ url }) => {
      for (;;) send({ url });
    },
    differ: ({ url }) => [send({ url: `${url}?attempt=${begun}` })],
    swallow: ({ urls }) => {
      for (const url of urls) {
        try {
          send({ url });
        } catch {
          // As a component does that catches everything.
        }
      }
      return 'swallowed';
    },
    writeAndSend: ({ url }) => {
      const files = imports['windlass:host/filesystem'];
      const [{ directory }] = files.roots();
      const before = directory.list('', undefined, false).entries.map(({ name }) => name);
      const options = { expectedDigest: undefined, createNew: true, createParents: false };
      directory.write(`made-${before.length}.txt`, encode('made'), options);
      imports['windlass:host/log'].log('info', 'written');
      const state = imports['windlass:host/state'];
      state.set('count', Uint8Array.of((state.get('count')?.[0] ?? 0) + 1));
      const answers = [send({ url }), send({ url })].map(({ status }) => status);
      return { before, answers, count: state.get('count')[0] };
    },
    global: ({ names }) => names.map((name) => typeof globalThis[name]),
    begun: () => begun,
  };
  return {
    call: ({ input }) => {
      const asked = JSON.parse(input);
      return { content: [{ tag: 'text', val: JSON.stringify(deeds[asked.do](asked)) }], isError: false, observed: [] };
    },
  };
}
