/** Requests and secrets in the form of a grant: nothing is ticked, and no secret is kept. */
import { visible } from '../model/tool-input.js';

/** What is given at first. */
export const NOTHING = { requests: {}, secrets: {} };

/** Bytes of the shortest secret: a shorter one could not be told from other text in an answer, and is not used. */
const SHORTEST = 8;

/** The origins that a component asks for, each with its methods: one that is a text alone stands for `GET`. */
export function askedRequests({ http = [] }) {
  return http.map((asked) => (typeof asked === 'string' ? { origin: asked, methods: ['GET'] } : asked));
}

/**
 * What was given, as `Plugin` takes it, and the values of the secrets.
 *
 * @returns {{ http: { origin: string, methods: string[] }[], secrets: Map<string, string> }}
 * @throws where a value could never be used
 */
export function networkGrant({ requests, secrets }, asked) {
  const given = ({ origin, methods }) => ({ origin, methods: methods.filter((method) => requests[requestOf(method, origin)]) });
  const http = askedRequests(asked).map(given).filter(({ methods }) => methods.length > 0);
  const values = new Map();
  for (const { name, audience } of asked.secrets ?? []) {
    const value = secrets[name]?.trim() ?? '';
    if (value === '') continue;
    if (new TextEncoder().encode(value).length < SHORTEST) {
      throw new Error(`The value of ${name} is shorter than ${SHORTEST} bytes. Such a secret is not used: it could not be found in answers.`);
    }
    if (!http.some(({ origin }) => audience.includes(origin))) {
      throw new Error(`${name} is sent to ${audience.join(' and ')} only: allow requests there, too, or leave it empty.`);
    }
    values.set(name, value);
  }
  return { http, secrets: values };
}

export function NetworkFields({ asked, given: { requests, secrets }, give }) {
  const origins = askedRequests(asked);
  if (origins.length === 0) return undefined;
  return (
    <>
      {origins.map(({ origin, methods }) => (
        <Origin origin={origin} methods={methods} requests={requests} give={give} />
      ))}
      <p class="faint">
        The page sends these requests, without cookies. It follows no redirect, and the server has to let this page read its answers
        (CORS): where it does not, the component is told that it cannot be reached, and the timeline says why.
      </p>
      {(asked.secrets ?? []).map((secret) => <Secret secret={secret} secrets={secrets} give={give} />)}
    </>
  );
}

function Origin({ origin, methods, requests, give }) {
  return (
    <fieldset>
      <legend>Requests to <code>{origin}</code></legend>
      {methods.map((method) => {
        const id = requestOf(method, origin);
        return (
          <p>
            <input
              id={id}
              type="checkbox"
              checked={requests[id] ?? false}
              onChange={({ target }) => give({ requests: { ...requests, [id]: target.checked } })}
            />{' '}
            <label for={id}>{method} <span class="visually-hidden">to {origin}</span></label>
          </p>
        );
      })}
    </fieldset>
  );
}

function Secret({ secret: { name, description, audience }, secrets, give }) {
  const id = `secret-${name}`;
  return (
    <p>
      <label for={id}>The secret <code>{name}</code>: {visible(description)} (empty: none)</label>
      <input
        id={id}
        type="password"
        autocomplete="off"
        spellcheck={false}
        aria-describedby={`${id}-use`}
        value={secrets[name] ?? ''}
        onInput={({ target }) => give({ secrets: { ...secrets, [name]: target.value } })}
      />
      <span class="faint" id={`${id}-use`}>
        The page adds it to requests to {audience.join(' and ')} and to no others, and takes it out of the answers; the component never has
        it. It stays in the memory of this tab until the component is removed or the tab is loaded anew, which asks for it again.
      </span>
    </p>
  );
}

function requestOf(method, origin) {
  return `${method} ${origin}`;
}
