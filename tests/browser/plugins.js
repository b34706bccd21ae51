/**
 * A session with plugins: a tool in JavaScript, a policy and an audit in Rust. The same in Node and in a page.
 *
 * @param {URL} packageUrl where the npm package is
 * @param {URL} pluginsUrl where the transpiled components are, each in a folder of its name
 * @param {object} scenario files, grants, script and prompt, as the native run has them; `inWorkers`: each component in a Worker
 * @returns {Promise<object>} what the model was answered, how the hooks ended, and the files afterwards
 */
export async function runPlugins(packageUrl, pluginsUrl, scenario) {
  const load = (file) => import(new URL(file, packageUrl));
  const [windlass, files, testkit, assets, workers] = await Promise.all(
    ['index.js', 'files.js', 'testkit.js', 'assets.js', 'worker-plugin.js'].map(load),
  );
  await windlass.init();
  const clock = new testkit.VirtualClock();
  const model = await testkit.ScriptedModel.load(scenario.script, { clock });
  const tree = new windlass.MemoryFileSystem({ files: scenario.files, clock });
  const plugins = Object.entries(scenario.plugins).map(async ([name, { grant }]) => {
    const at = new URL(`${name}/`, pluginsUrl);
    if (scenario.inWorkers) {
      const { declaration } = await import(new URL('declaration.js', at));
      return new workers.WorkerPlugin(declaration, new URL(`${name}.js`, at), grant);
    }
    const [{ declaration }, { instantiate }] = await Promise.all(
      ['declaration', name].map((file) => import(new URL(`${file}.js`, at))),
    );
    return new windlass.Plugin(declaration, instantiate, (path) => assets.readModule(new URL(path, at)), grant);
  });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    clock,
    cwd: scenario.cwd,
    files: tree,
    seed: new Uint8Array(32),
    plugins: [await files.fileTools(), ...(await Promise.all(plugins))],
    allowedTools: scenario.allowed,
  });
  const answers = [];
  for await (const message of agent.query(scenario.prompt)) {
    if (message.type === 'user') {
      for (const block of message.message.content) {
        if (block.type === 'tool_result') answers.push({ call: block.tool_use_id, error: block.is_error ?? false, text: text(block) });
      }
    }
    if (message.subtype === 'hook_response') {
      answers.push({ hook: message.hook_name, outcome: message.outcome, output: message.output });
    }
  }
  model.verify();
  for (const plugin of await Promise.all(plugins)) plugin.close?.();
  return { ok: true, answers, files: Object.fromEntries(tree.paths().map((path) => [path, tree.readText(path)])) };
}

function text({ content }) {
  return typeof content === 'string' ? content : content.map((block) => block.text).join('\n');
}
