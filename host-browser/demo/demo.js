/**
 * The demonstration without a network: the project of `host-native/demo` in memory, a model that follows its
 * script, the file tools as the component they are, and Bash as a tool of the embedder that answers what the
 * commands answered on a machine that has them.
 */

/** Everything the run is made of; `bundle` is one JSON file that the build writes. */
export async function demoAgent({ windlass, testkit, files, bundle, clock, options = {} }) {
  const { cwd } = bundle;
  const project = new windlass.MemoryFileSystem({ clock });
  for (const { path, text, modified } of bundle.files) project.writeFile(`${cwd}/${path}`, text, { modified });
  const model = await testkit.ScriptedModel.load(bundle.script, { variables: { cwd }, clock });
  const agent = new windlass.Agent({
    fetch: model.fetch,
    clock,
    cwd,
    files: project,
    plugins: [await files.fileTools()],
    tools: [recordedBash(windlass.tool, bundle)],
    allowedTools: ['Bash(python3 -m unittest:*)'],
    freeWorkspaceReads: true,
    permissionMode: 'acceptEdits',
    ...options,
  });
  return { agent, model, project };
}

/** Bash for hosts that have none: the recorded answers, in their order. */
function recordedBash(tool, { cwd, bash }) {
  const answers = [...bash.calls];
  const schema = {
    type: 'object',
    properties: { command: { type: 'string' }, description: { type: 'string' } },
    required: ['command'],
  };
  // Nothing runs, so what was recorded is found by the model's own text.
  const answer = (_, { asWritten: { command } }) => {
    const next = answers[0];
    if (next?.command !== command) throw new Error(`no answer was recorded for: ${command}`);
    answers.shift();
    const output = `${next.stdout}${next.stderr}`.replaceAll('${cwd}', cwd);
    if (next.exit_code === 0) return output;
    return { content: `Exit code ${next.exit_code}\n${output}`, isError: true };
  };
  return tool('Bash', 'Runs a command. Here: answers what it answered once.', schema, answer, {
    commandParam: 'command',
  });
}
