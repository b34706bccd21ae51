/** Which requests a component may send, and which secrets may go with them: what it declares and was granted, both. */

/** The methods that can be granted; they are compared letter by letter. */
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Origins, secrets and variables of a declaration at most, each. */
const MOST = 64;

/** Names of secrets and variables. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/**
 * What a declaration asks for: the methods of each origin, and the audience of each secret.
 *
 * @param {{ http?: unknown[], secrets?: object[], env?: string[] }} grants as declared
 * @param {(what: string) => never} refuse
 * @returns {{ origins: Map<string, Set<string>>, secrets: Map<string, Set<string>> }}
 */
export function askedNetwork({ http = [], secrets = [], env = [] }, refuse) {
  for (const [kind, list] of Object.entries({ http, secrets, env })) {
    if (!Array.isArray(list)) refuse(`\`grants.${kind}\` is no list`);
    if (list.length > MOST) refuse(`\`grants.${kind}\` has more than ${MOST} entries`);
  }
  const origins = new Map();
  for (const [origin, methods] of http.map((asked) => originMethods(asked, refuse))) {
    if (origins.has(origin)) refuse(`\`grants.http\` has the origin ${origin} twice: name it once, with all methods`);
    origins.set(origin, methods);
  }
  checkNames(env, refuse);
  checkNames(secrets.map((secret) => secret?.name), refuse);
  return { origins, secrets: new Map(secrets.map((secret) => [secret.name, audienceOf(secret, origins, refuse)])) };
}

/** The origin of a URL, if it is of a kind that can be granted and names no user. */
export function originOf({ protocol, hostname, username, password, origin }) {
  if (username !== '' || password !== '' || hostname === '' || hostname.endsWith('.')) return undefined;
  return protocol === 'https:' || (protocol === 'http:' && isHere(hostname)) ? origin : undefined;
}

/** The URL that a text is, if it is an absolute one. */
export function urlOf(text) {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

export class NetworkGrant {
  #origins = new Map();
  #secrets = new Map();

  /**
   * @param {ReturnType<typeof askedNetwork>} asked
   * @param {{ http?: unknown[], secrets?: string[] }} grant
   * @param {(what: string) => never} refuse
   * @throws where something is granted for which the component does not ask
   */
  constructor(asked, { http = [], secrets = [] }, refuse) {
    if (!Array.isArray(http)) refuse('`http` so: it is a list of origins');
    if (!Array.isArray(secrets)) refuse('`secrets` so: it is a list of names');
    for (const [origin, methods] of http.map((granted) => originMethods(granted, refuse))) {
      const most = asked.origins.get(origin) ?? refuse(`requests to ${origin}, for which it does not ask`);
      for (const method of methods) if (!most.has(method)) refuse(`${method} to ${origin}, for which it does not ask`);
      this.#origins.set(origin, new Set([...(this.#origins.get(origin) ?? []), ...methods]));
    }
    for (const name of secrets) {
      const audience = asked.secrets.get(name) ?? refuse(`the secret \`${name}\`, for which it does not ask`);
      this.#secrets.set(name, new Set([...audience].filter((origin) => this.#origins.has(origin))));
    }
  }

  /** Whether requests may go anywhere. */
  get isOpen() {
    return this.#origins.size > 0;
  }

  get hasSecrets() {
    return this.#secrets.size > 0;
  }

  /** Whether a request with this method may go to this origin. */
  lets(origin, method) {
    return this.#origins.get(origin)?.has(method) ?? false;
  }

  /** The granted secrets: each name with the granted origins that it may be sent to. */
  get secrets() {
    return [...this.#secrets];
  }

  /** Where a secret may be sent; nothing if it was not granted. */
  audience(secret) {
    return this.#secrets.get(secret);
  }
}

/** An origin with its methods: a text alone stands for `GET`. */
function originMethods(written, refuse) {
  if (typeof written === 'string') return [checkedOrigin(written, refuse), new Set(['GET'])];
  const { origin, methods, ...more } = written ?? {};
  checkedOrigin(origin, refuse);
  const isKnown = Array.isArray(methods) && methods.length > 0 && methods.every((method) => METHODS.includes(method));
  if (!isKnown || Object.keys(more).length > 0) {
    refuse(`${origin} so: an origin is a text, or has \`origin\` and \`methods\`, which are some of ${METHODS.join(', ')}`);
  }
  return [origin, new Set(methods)];
}

/** An origin is written in one way, the one in which URLs are compared. */
function checkedOrigin(text, refuse) {
  const url = typeof text === 'string' && !text.includes('*') ? urlOf(text) : undefined;
  if (!['https:', 'http:'].includes(url?.protocol)) refuse(`\`${text}\`, which is no origin: write \`https://\` and a host`);
  if (url.origin !== text) refuse(`\`${text}\`, which is no origin: if ${url.origin} is meant, write that, without path, user, final slash or usual port`);
  if (originOf(url) !== text) {
    const why = url.protocol === 'http:' ? 'is not encrypted: `http://` is for this machine only' : 'is no origin: its host ends with a dot';
    refuse(`\`${text}\`, which ${why}`);
  }
  return text;
}

function audienceOf({ name, description, audience, ...more }, origins, refuse) {
  if (Object.keys(more).length > 0) refuse(`\`${Object.keys(more)[0]}\` of the secret \`${name}\`, which this host does not know`);
  if (typeof description !== 'string') refuse(`the secret \`${name}\` without a \`description\``);
  if (!Array.isArray(audience) || audience.length === 0) refuse(`the secret \`${name}\` without an \`audience\`: name the origins that it is sent to`);
  const stranger = audience.find((origin) => !origins.has(origin));
  if (stranger !== undefined) refuse(`the secret \`${name}\` for ${stranger}, which is not among \`grants.http\``);
  return new Set(audience);
}

function checkNames(names, refuse) {
  names.forEach((name, i) => {
    if (typeof name !== 'string' || !NAME.test(name)) refuse(`\`${name}\`, which is no name of a secret or variable`);
    if (names.indexOf(name) !== i) refuse(`\`${name}\` twice`);
  });
}

/** Whether a host is this machine, by its name. Addresses are in the one spelling that `URL` gives them. */
function isHere(host) {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
