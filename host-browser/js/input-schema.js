/** Input schemas of tools: JSON Schema, or a schema of a library (https://standardschema.dev), which parses the input, too. */

/** The dialect that the Messages API and the core read. */
const DIALECT = { target: 'draft-2020-12' };

/**
 * What the model is told of an input, and what a handler gets of one.
 *
 * @param {string} tool
 * @param {object} schema JSON Schema of an object, a schema of a library, or an object with such a schema for each field
 * @returns {{ json: object, parse: (input: object) => unknown }} `parse` throws what the model reads, or rejects with it
 */
export function inputSchema(tool, schema) {
  if (typeof schema !== 'object' && typeof schema !== 'function') throw fault(tool, 'is JSON Schema, or a schema of a library such as Zod');
  if (isStandard(schema)) return { json: ofObject(tool, jsonOf(tool, schema)), parse: (input) => parsed(tool, [[undefined, schema]], input) };
  const fields = Object.entries(schema ?? {});
  const isShape = fields.length > 0 && fields.every(([, field]) => isStandard(field));
  // A shape without fields and JSON Schema without keywords both say that there is nothing to give.
  if (fields.length === 0) return { json: { type: 'object', properties: {} }, parse: () => ({}) };
  if (isShape) return { json: shapeOf(tool, fields), parse: (input) => parsed(tool, fields, input) };
  return { json: ofObject(tool, schema), parse: (input) => input };
}

/** Of no value that is `null` or plain. */
function isStandard(value) {
  return value?.['~standard']?.validate !== undefined;
}

function jsonOf(tool, schema) {
  const { jsonSchema, vendor } = schema['~standard'];
  const convert = jsonSchema?.input ?? schema.toJSONSchema?.bind(schema, { io: 'input' });
  if (!convert) {
    throw fault(tool, `comes from ${vendor}, and does not give its JSON Schema: newer versions do (Zod from 4.2 on), or give JSON Schema itself`);
  }
  try {
    const { $schema, ...json } = convert(DIALECT);
    return json;
  } catch (cause) {
    throw fault(tool, `cannot be told as JSON Schema: ${cause.message}`, cause);
  }
}

function ofObject(tool, json) {
  if (json.type === 'object') return json;
  throw fault(tool, `is for ${JSON.stringify(json.type) ?? 'no type'}, and inputs are objects: it must have \`type: "object"\``);
}

/** The schema of an object with these fields; those that may be left out are those that take nothing. */
function shapeOf(tool, fields) {
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, jsonOf(`${tool}.${name}`, field)]));
  if (JSON.stringify(properties).includes('"$ref":')) {
    throw fault(tool, 'has a field that refers to another schema: give all of it as one object of your library (`z.object({ … })`)');
  }
  const required = fields.filter(([, field]) => !takesNothing(field)).map(([name]) => name);
  return { type: 'object', properties, required };
}

function takesNothing(field) {
  const result = field['~standard'].validate(undefined);
  return !(result instanceof Promise) && result.issues === undefined;
}

/** The input as the schemas give it; fields that a shape does not have are left out. */
async function parsed(tool, fields, input) {
  const issues = [];
  const output = {};
  for (const [name, schema] of fields) {
    const result = await schema['~standard'].validate(name === undefined ? input : own(input, name));
    if (result.issues) issues.push(...result.issues.map(({ message, path = [] }) => said(message, name === undefined ? path : [name, ...path])));
    else if (name === undefined) return result.value;
    else if (result.value !== undefined) output[name] = result.value;
  }
  if (issues.length > 0) throw new Error(`The input of ${tool} is not valid: ${issues.join('; ')}`);
  return output;
}

/** A field that the model gave, and none that every object has. */
function own(input, name) {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

function said(message, path) {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  return keys.length === 0 ? message : `${keys.map(String).join('.')}: ${message}`;
}

function fault(tool, what, cause) {
  return new Error(`the input schema of the tool ${tool} ${what}`, { cause });
}
