/** Tools: what a handler gets is what its schema makes of an input. */
import { tool } from 'windlass';
import type { OutputOf, OutputOfShape, StandardSchema, Tool, ToolContext, ToolDefinition, ToolExtras, ToolHandler, ToolOutput } from 'windlass';
import { z } from 'zod';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <T extends true>(): T | undefined => undefined;

const Place = z.object({ city: z.string(), days: z.number().default(3), at: z.string().transform(Number).optional() });
const schema: StandardSchema = Place;
same<Same<OutputOf<typeof Place>, { city: string; days: number; at?: number | undefined }>>();
same<Same<OutputOfShape<{ a: z.ZodString; b: z.ZodOptional<z.ZodNumber> }>, { a: string; b?: number | undefined }>>();

const extras: ToolExtras = { annotations: { readOnly: true, openWorldHint: false }, timeoutMs: 1000, paths: [{ field: 'a', access: 'read' }] };
const output: ToolOutput = { content: [{ type: 'text', text: 'here' }], structured: { here: true } };
const handler: ToolHandler<{ a: string }> = ({ a }, { progress }: ToolContext) => {
  progress(a);
  return output;
};

export const tools: Tool[] = [
  tool('Weather', 'The weather.', Place, ({ city, days, at }) => `${city.trim()} ${days.toFixed()} ${at?.toFixed()}`, extras),
  tool('Shape', 'As in the SDK.', { city: z.string(), days: z.number().optional() }, async ({ city, days }) => ({
    content: [{ type: 'text', text: `${city.trim()} ${days?.toFixed()}` }],
  })),
  tool('Json', 'JSON Schema.', { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, handler),
  tool<{ a: string }>('Typed', 'JSON Schema.', { type: 'object' }, ({ a }) => a.trim()),
  // @ts-expect-error the schema says that it is a text
  tool('Wrong', '', { city: z.string() }, ({ city }) => city.toFixed()),
  // @ts-expect-error a handler gives a text, or an output
  tool('Wrong', '', Place, () => 7),
];
export const definition: ToolDefinition | undefined = tools[0]?.definition;
export const given: unknown = schema;
