/** Runs the probe of requests in an agent: the same in Node and in a page. */

/**
 * @param {object} host `{ windlass, testkit, plugin }`: the package, and what makes a plugin of a declaration and a grant
 * @param {object[]} inputs of its calls, one after another
 * @param {object} [options] `asked` and `limits` of the declaration, `grant`, `values` of secrets, `interruptAt`; `follows`: redirects are followed
 * @returns {Promise<object>} what the calls gave, what was logged, for which secrets and origins values were asked, and the files
 */
export async function runProbe({ windlass, testkit, plugin: pluginOf }, inputs, { asked, limits, grant, values, interruptAt, follows } = {}) {
  await windlass.init();
  const calls = inputs.map((input) => ({ respond: { content: [{ type: 'tool_use', name: 'Probe', input: { root: '/w', ...input } }] } }));
  const model = await testkit.ScriptedModel.load({ exchanges: [...calls, { respond: 'Done.' }] });
  const tool = { name: 'Probe', description: 'Probes.', input_schema: { type: 'object' }, paths: [{ field: 'root', access: 'write' }] };
  const grants = { filesystem: 'write', state: 'session', ...asked };
  const plugin = pluginOf({ name: 'probe', version: '0.1.0', wit: '0.1.0', tools: [tool], grants, limits }, { workspace: 'write', state: true, ...grant });
  const told = [];
  const wanted = [];
  const tree = new windlass.MemoryFileSystem({ files: { '/w/.keep': '' } });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    cwd: '/w',
    files: tree,
    plugins: [plugin],
    allowedTools: ['Probe'],
    pluginLog: (name, level, message) => told.push(`${level} ${message}`),
    pluginFetch: follows && ((url, init) => fetch(url, { ...init, redirect: 'follow' })),
    pluginSecret: values && ((name, { plugin, origin }) => {
      wanted.push([name, plugin, origin]);
      if (values[name] === 'fails') throw new Error('the value is hunter2-hunter2');
      return name === 'LATER' ? Promise.resolve(values[name]) : values[name];
    }),
  });
  const results = [];
  const run = agent.query('Go.');
  for await (const message of run) {
    if (message.type === 'assistant' && results.length === interruptAt) setTimeout(() => run.interrupt(), 300);
    if (message.type !== 'user') continue;
    for (const { type, content, is_error } of message.message.content) {
      if (type !== 'tool_result') continue;
      const text = typeof content === 'string' ? content : content.map(({ text }) => text).join();
      results.push(is_error ? { error: text } : JSON.parse(text));
    }
  }
  plugin.close?.();
  return { results, told, wanted, files: tree.paths() };
}
