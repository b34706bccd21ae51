/** The hooks of an agent: callbacks of the embedder, and those of its components. */

/** How long a callback may take when its matcher says nothing, in seconds. */
const TIMEOUT = 60;

/** Milliseconds that the core waits beyond the limit of a component's hook, for the compilation before its first run. */
const COMPILING_MS = 60_000;

/** Registers hooks and runs them by the names under which they are registered. */
export class Hooks {
  /** What the core is told. */
  registrations = [];
  #running = new Map();

  /**
   * @param {Record<string, { matcher?: string, hooks: Function[], timeout?: number }[]>} callbacks by event
   * @param {import('./plugin.js').Plugin[]} plugins
   * @param {Set<string>} enforcing the tools whose files the host resolves
   */
  constructor(callbacks, plugins, enforcing) {
    for (const [event, matchers] of Object.entries(callbacks)) {
      for (const matcher of matchers) this.#addCallbacks(event, matcher);
    }
    for (const plugin of plugins) {
      for (const hook of plugin.hooks) this.#addComponent(plugin, hook, enforcing);
    }
  }

  #addCallbacks(event, { matcher, hooks, timeout = TIMEOUT }) {
    const names = hooks.map((callback) => {
      const name = `callback-${this.#running.size}`;
      this.#running.set(name, (call, input, { signal, effectId }) => callback(call.input, call.tool_use_id ?? undefined, { signal, effectId }));
      return name;
    });
    this.registrations.push({ event, matcher, hooks: names, timeout });
  }

  /** It may only narrow; a judge that fails refuses, an observer that fails is reported. */
  #addComponent(plugin, hook, enforcing) {
    const name = `${plugin.name}:${hook.name}`;
    if (this.#running.has(name)) throw new Error(`two components are called ${plugin.name}`);
    this.#running.set(name, (call, input, { host }) => plugin.hook(hook, call, input, { ...host(plugin, call.deny), enforcing }));
    this.registrations.push({
      event: hook.event,
      matcher: hook.matcher,
      hooks: [name],
      timeout: (plugin.hookTimeout(hook) + COMPILING_MS) / 1000,
      onFailure: hook.kind === 'judge' ? 'block' : 'continue',
      kind: 'narrowing',
      source: `plugin ${plugin.name}`,
    });
  }

  /**
   * Runs a hook; gives its output as JSON.
   *
   * @param {string} callJson
   * @param {{ signal: AbortSignal, effectId: string, host: (plugin: object, deny?: object[]) => object }} context `host`: what a run of a component may use, but for what
   *   rules deny
   */
  async run(callJson, context) {
    const call = JSON.parse(callJson);
    const output = await this.#running.get(call.hook)(call, JSON.stringify(call.input), context);
    return JSON.stringify(output ?? {});
  }
}
