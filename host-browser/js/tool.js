/** Tools that are functions of the embedder. */
import { inputSchema } from './input-schema.js';
import { unknownFields } from './known-fields.js';
import { TOOL_NAME } from './tool-name.js';

/** What `extras`, their annotations and their paths can have. */
const EXTRAS = ['annotations', 'paths', 'commandParam', 'retry', 'timeoutMs'];

/** Extras of the TypeScript Agent SDK that limit nothing: a model sees every tool here, and nothing is searched for. */
const HINTS = ['alwaysLoad', 'searchHint'];
const ANNOTATIONS = [
  'readOnly', 'destructive', 'idempotent', 'openWorld', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint', 'title',
];
const PATH = ['field', 'access', 'defaultCwd'];

/** What makes an object a result. */
const RESULT = ['content', 'structured', 'structuredContent', 'isError'];

/**
 * A tool: a definition and the function that answers its calls.
 *
 * @param {string} name
 * @param {string} description what it does, in the words the model reads
 * @param {object} schema of its input: JSON Schema, a schema of a library such as Zod, or an object with one for each field
 * @param {(input: any, context: { signal: AbortSignal, progress: (text: string) => void, effectId: string, asWritten: object }) => any} handler
 *   gives a text, a result (`{ content, isError?, structured? }`), or a promise of one; what it throws is a failure
 *   that the model reads
 * @param {object} [extras] `annotations`, `paths`, `commandParam`, `retry`, `timeoutMs`
 */
export function tool(name, description, schema, handler, extras = {}) {
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) throw new Error(`a tool cannot be called ${JSON.stringify(name)}: names have 1 to 128 letters, digits, \`_\` and \`-\``);
  if (typeof handler !== 'function') throw new Error(`the tool ${name} has no handler: the function that answers its calls comes behind the schema`);
  checkExtras(name, extras);
  const { json, parse } = inputSchema(name, schema);
  const { commandParam = null } = extras;
  return {
    definition: {
      name,
      description,
      input_schema: json,
      annotations: annotations(extras.annotations ?? {}),
      paths: (extras.paths ?? []).map(({ field, access, defaultCwd = false }) => ({
        field,
        access,
        default_cwd: defaultCwd,
      })),
      command_param: commandParam,
      retry: extras.retry ?? 'never',
      timeout_ms: extras.timeoutMs ?? null,
    },
    async call(call, { signal, progress, effectId, judgedLine }) {
      const input = commandParam === null ? call.input : { ...call.input, [commandParam]: approvedCommand(call, commandParam, judgedLine) };
      return toCore(name, await handler(await parse(input), { signal, progress, effectId, asWritten: call.input }));
    },
  };
}

/** What has no effect could be a rule that nobody keeps. */
function checkExtras(name, extras) {
  const misplaced = Object.keys(extras ?? {}).find((key) => ANNOTATIONS.includes(key));
  const faults = misplaced
    ? [`the tool ${name} has an extra \`${misplaced}\`, which belongs in \`annotations\``]
    : unknownFields(`the tool ${name}`, extras, [...EXTRAS, ...HINTS]);
  faults.push(...unknownFields(`an annotation of the tool ${name}`, extras?.annotations, ANNOTATIONS));
  const paths = Array.isArray(extras?.paths) ? extras.paths : [];
  faults.push(...paths.flatMap((path) => unknownFields(`a path of the tool ${name}`, path, PATH)));
  if (faults.length > 0) throw new Error(faults.join('; '));
}

/** The names of MCP, which the TypeScript Agent SDK takes, are as good as those of the core. */
function annotations({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint, title, ...own }) {
  const hints = { readOnly: readOnlyHint, destructive: destructiveHint, idempotent: idempotentHint, openWorld: openWorldHint };
  return { ...hints, ...own };
}

/**
 * The command that may run: the text of the model if all of it was approved, else what was read of it, printed anew.
 *
 * @param {{ name: string, input: object, command?: string | object }} call
 * @param {string} field of the input
 * @param {string} [judgedLine] what was printed, if the parts of the command were judged one by one
 */
export function approvedCommand(call, field, judgedLine) {
  if (call.command === 'as_written') return call.input[field];
  if (judgedLine !== undefined) return judgedLine;
  throw new Error(`The call of ${call.name} says nothing about what of its command was approved, so nothing was run.`);
}

/** What a handler gave, in the form the core reads; of one that gave nothing, an empty text. */
function toCore(tool, given) {
  const { content = '', isError = false, structured, structuredContent } = typeof given === 'string' ? { content: given } : resultOf(tool, given ?? {});
  return {
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(block),
    is_error: isError,
    structured: structured ?? structuredContent ?? null,
    observed: [],
  };
}

/** What is no result would be an empty one: neither the model nor anybody else would know that something was given. */
function resultOf(tool, given) {
  const isResult = typeof given === 'object' && RESULT.some((field) => field in given);
  const { content = '' } = given;
  const hasBlocks = Array.isArray(content) && content.every((block) => typeof block?.type === 'string');
  const isEmpty = typeof given === 'object' && Object.keys(given).length === 0 && !(given instanceof Date) && !Array.isArray(given);
  if (isEmpty || (isResult && (typeof content === 'string' || hasBlocks))) return given;
  throw new Error(`the tool ${tool} gave ${kindOf(given)} in place of a result: a handler gives a text, or \`{ content }\` with a text or content blocks`);
}

function kindOf(value) {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? `an object with ${Object.keys(value).join(', ') || 'nothing in it'}` : `a ${typeof value}`;
}

/** Images as MCP has them, in the words of the Messages API. */
function block(given) {
  if (given.type !== 'image' || given.data === undefined) return given;
  return { type: 'image', source: { type: 'base64', media_type: given.mimeType, data: given.data } };
}
