/** Runs a real component in an agent: the same in Node and in a page. */

/**
 * @param {object} host `{ windlass, testkit, plugin }`: the package, and what makes a plugin of a declaration, an address and a grant
 * @param {URL | string} at the folder with what jco made of it, and its declaration
 * @param {string} name of the component
 * @param {object[]} inputs of the calls of its one tool, one after another
 * @param {object} options `grant`, `values` of secrets, `files`, `server`: where requests to `http://localhost` really go, and `timeoutMs` in
 *   place of the declared limit
 * @returns {Promise<{ results: string[], files: object, logged: number }>} `logged`: characters of the log
 */
export async function runComponent({ windlass, testkit, plugin: pluginOf }, at, name, inputs, { grant, values, files, server, timeoutMs }) {
  await windlass.init();
  const { declaration } = await import(new URL('declaration.js', at));
  const [{ name: tool }] = declaration.tools;
  const limits = { ...declaration.limits, timeout_ms: timeoutMs ?? declaration.limits.timeout_ms };
  const plugin = await pluginOf({ ...declaration, limits }, new URL(`${name}.js`, at), grant);
  const calls = inputs.map((input) => ({ respond: { content: [{ type: 'tool_use', name: tool, input }] } }));
  const model = await testkit.ScriptedModel.load({ exchanges: [...calls, { respond: 'Done.' }] });
  let logged = 0;
  const tree = new windlass.MemoryFileSystem({ files });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    cwd: '/w',
    files: tree,
    plugins: [plugin],
    allowedTools: [tool],
    toolTimeoutMs: 60_000,
    pluginFetch: (url, init) => globalThis.fetch(url.replace('http://localhost', server), init),
    pluginSecret: (name) => values?.[name],
    pluginLog: (name, level, message) => (logged += message.length),
  });
  const results = [];
  for await (const message of agent.query('Go.')) {
    if (message.type !== 'user') continue;
    for (const { type, content } of message.message.content) {
      if (type === 'tool_result') results.push(typeof content === 'string' ? content : content.map(({ text }) => text).join());
    }
  }
  plugin.close?.();
  return { results, logged, files: Object.fromEntries(tree.paths().map((path) => [path, tree.readText(path)])) };
}
