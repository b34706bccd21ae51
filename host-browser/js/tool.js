/** Tools that are functions of the embedder. */

/**
 * A tool: a definition and the function that answers its calls.
 *
 * @param {string} name
 * @param {string} description what it does, in the words the model reads
 * @param {object} inputSchema JSON Schema of an object
 * @param {(input: any, context: { signal: AbortSignal, progress: (text: string) => void, effectId: string }) => any} handler
 *   gives a text, a result (`{ content, isError?, structured? }`), or a promise of one; what it throws is a failure
 *   that the model reads
 * @param {object} [extras] `annotations`, `paths`, `commandParam`, `retry`, `timeoutMs`
 */
export function tool(name, description, inputSchema, handler, extras = {}) {
  return {
    definition: {
      name,
      description,
      input_schema: inputSchema,
      annotations: extras.annotations ?? {},
      paths: (extras.paths ?? []).map(({ field, access, defaultCwd = false }) => ({
        field,
        access,
        default_cwd: defaultCwd,
      })),
      command_param: extras.commandParam ?? null,
      retry: extras.retry ?? 'never',
      timeout_ms: extras.timeoutMs ?? null,
    },
    async call(call, context) {
      return toCore(await handler(call.input, context));
    },
  };
}

/** What a handler gave, in the form the core reads. */
function toCore(given) {
  const { content = '', isError = false, structured } = typeof given === 'string' ? { content: given } : (given ?? {});
  return {
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    is_error: isError,
    structured: structured ?? null,
    observed: [],
  };
}
