/**
 * Mends a difference between `just-bash` and bash: there the commands of a pipeline, and those in the background, change the directory and
 * the options of the shell itself. In bash each has a subshell of its own, and that is what judges of lines count on.
 *
 * A transform plugin of `just-bash`: it is given the tree of a line before that runs.
 */
export const subshells = {
  name: 'subshells',
  transform: ({ ast }) => {
    mend(ast);
    return { ast };
  },
};

function mend(node) {
  if (Array.isArray(node)) return node.forEach(mend);
  if (node === null || typeof node !== 'object') return undefined;
  // From the inside: what is put around a command is right already.
  Object.values(node).forEach(mend);
  if (node.type === 'Pipeline' && node.commands.length > 1) separate(node);
  if (node.type === 'Statement' && node.background) node.pipelines.forEach(separate);
  return undefined;
}

function separate(pipeline) {
  pipeline.commands = pipeline.commands.map((command) => (command.type === 'Subshell' ? command : around(command)));
}

function around(command) {
  const pipeline = { type: 'Pipeline', commands: [command], negated: false };
  const statement = { type: 'Statement', pipelines: [pipeline], operators: [], background: false, line: command.line };
  return { type: 'Subshell', body: [statement], redirections: [], line: command.line };
}
