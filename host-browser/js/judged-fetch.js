/**
 * `fetch` for requests of components in Node: a name is looked up once, its addresses are judged, and the connection is made to one of
 * them. Nothing is followed, there is no proxy, and no connection of others is used.
 */
import { isLoopback, isPublic } from './public-address.js';

/** What requests say that they come from, if the component says nothing else. */
const USER_AGENT = 'windlass';

/** Statuses whose answers have no body. */
const WITHOUT_BODY = [204, 205, 304];

/** What sends the requests of components where the embedder says nothing: here with judged addresses, where that can be done. */
export function platformFetch() {
  const node = nodeModules();
  if (!node) return (...request) => globalThis.fetch(...request);
  return (url, init) => judgedFetch(node, new URL(url), init);
}

/** Modules of Node, if this is Node: others that have some of them decide about connections themselves. */
function nodeModules() {
  const { process } = globalThis;
  const isOther = 'Deno' in globalThis || 'Bun' in globalThis || globalThis.navigator?.userAgent === 'Cloudflare-Workers';
  if (isOther || process?.release?.name !== 'node' || process.type === 'renderer') return undefined;
  // No import: bundlers for pages have no such modules.
  const module = (name) => process.getBuiltinModule?.(`node:${name}`);
  const [dns, http, https, stream, zlib] = ['dns', 'http', 'https', 'stream', 'zlib'].map(module);
  return dns && { dns, http, https, stream, zlib };
}

function judgedFetch(node, url, { method, headers, body, signal }) {
  const { request } = url.protocol === 'https:' ? node.https : node.http;
  const sent = { 'user-agent': USER_AGENT, accept: '*/*', 'accept-encoding': 'identity', ...Object.fromEntries(headers) };
  return new Promise((resolve, reject) => {
    const asking = request(url, {
      method,
      headers: sent,
      signal,
      agent: false, // a connection that is kept may lead to an address that nobody has judged
      lookup: (host, options, found) => lookUp(node.dns, host, options, found),
    });
    asking.once('error', reject);
    asking.once('response', (incoming) => {
      try {
        resolve(responseOf(node, incoming));
      } catch (error) {
        incoming.destroy();
        reject(error);
      }
    });
    asking.end(body);
  });
}

/** Gives the addresses of a name, if each of them is public. One that is not is reason enough: who gives such an answer may give others next time. */
function lookUp(dns, host, options, found) {
  dns.lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return found(error);
    const isOpen = ({ address }) => isPublic(address) || (host === 'localhost' && isLoopback(address));
    const closed = addresses.find((address) => !isOpen(address));
    if (closed) return found(new Error(`${host} is ${closed.address}, which is no public address`));
    if (options.all) return found(null, addresses);
    return found(null, addresses[0].address, addresses[0].family);
  });
}

function responseOf({ stream, zlib }, incoming) {
  const { statusCode: status, rawHeaders } = incoming;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1]);
  if (WITHOUT_BODY.includes(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  const decoders = decodersOf(zlib, headers.get('content-encoding') ?? '');
  // What breaks is told by the last stream, which is read.
  const whole = decoders.length === 0 ? incoming : stream.pipeline([incoming, ...decoders], () => {});
  return new Response(stream.Readable.toWeb(whole), { status, headers });
}

/** As `fetch` does it: a component reads what was meant, and what nobody can undo as it is. */
function decodersOf(zlib, header) {
  const encodings = header.split(',').map((name) => name.trim().toLowerCase()).filter((name) => !['', 'identity'].includes(name));
  const makers = encodings.reverse().map((name) => makerOf(zlib, name));
  return makers.includes(undefined) ? [] : makers.map((make) => make());
}

function makerOf(zlib, encoding) {
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.createGunzip;
  if (encoding === 'deflate') return zlib.createInflate;
  return encoding === 'br' ? zlib.createBrotliDecompress : undefined;
}
