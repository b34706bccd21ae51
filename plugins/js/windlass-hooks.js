// Hooks: code that runs at the events of a session. A judge may refuse, ask or narrow, and never allows; an observer sees.

import { Files } from "./windlass-files.js";
import { log } from "./windlass-host.js";

/** What a judge says. It is made by the functions below, so that nothing else passes for one. */
class Judgement {
  constructor(tag, val) {
    this.tag = tag;
    this.val = val;
  }
}

/** No opinion: rules and mode decide. */
export const pass = () => new Judgement("pass");

/** Permission must be asked for, with a reason that the person reads. */
export const ask = (reason) => new Judgement("ask", String(reason));

/** It is refused, with a reason that the model reads. */
export const deny = (reason) => new Judgement("deny", String(reason));

/**
 * The call may run with these restrictions: without the files that patterns match (`without`), without writing them
 * (`withoutWriting`), and within a time in milliseconds (`withinMs`).
 */
export function narrow({ without = [], withoutWriting = [], withinMs = null, ...unknown }) {
  const [key] = Object.keys(unknown);
  if (key !== undefined) throw new TypeError(`a narrowing has a key \`${key}\`, which means nothing`);
  const closed = (access) => (pattern) => ({ pattern, access });
  const denyPaths = [...without.map(closed("read")), ...withoutWriting.map(closed("write"))];
  return new Judgement("narrow", { denyPaths, timeoutMs: withinMs });
}

/** A hook that may refuse. One that fails, or returns no judgement, has refused. */
export const judge = (definition) => hook("judge", definition);

/** A hook that sees and changes nothing. */
export const observer = (definition) => hook("observer", definition);

function hook(kind, definition) {
  if (typeof definition.run !== "function") throw new TypeError(`the hook ${definition.name} has no function \`run\``);
  return { ...definition, kind };
}

/** The exports of a component with these hooks. An error that is thrown as a text is one for the host. */
export function hookExports(hooks) {
  return {
    judge: (event) => {
      const judgement = run(hooks, "judge", event);
      if (!(judgement instanceof Judgement)) throw `the judge ${event.hook} returned no judgement: pass(), ask(), deny() or narrow()`;
      return judgement;
    },
    observe: (event) => {
      run(hooks, "observer", event);
    },
  };
}

function run(hooks, kind, { hook, event, input, toolUseId }) {
  const named = hooks.find((own) => own.kind === kind && own.name === hook);
  if (named === undefined) throw `there is no ${kind} ${hook} in this plugin`;
  let returned;
  try {
    returned = named.run(JSON.parse(input), { event, toolUseId: toolUseId ?? undefined, files: new Files(), log });
  } catch (error) {
    if (error?.stack) log.debug(error.stack);
    throw error instanceof Error ? error.message : String(error);
  }
  if (typeof returned?.then === "function") throw `the hook ${hook} returned a promise: hooks run to their end at once, without \`async\``;
  return returned;
}
