/** Tools that are functions. */

/** A tool of the embedder. */
export interface Tool {
  readonly definition: ToolDefinition;
}

/** A tool as the core reads it. */
export interface ToolDefinition {
  name: string;
  description: string;
  input_schema: object;
  [field: string]: unknown;
}

/** What a handler gets beside the input. */
export interface ToolContext {
  /** Fires when the call is cancelled or out of time. */
  signal: AbortSignal;
  /** Says that the tool is alive. */
  progress(text: string): void;
  /** The same for a call that is made again: an idempotency key. */
  effectId: string;
  /** The input as the model wrote it, to show or to record it. A command in it is not what was approved: run that of the input. */
  asWritten: Record<string, unknown>;
}

/** What a tool gives: a text, or this. A result of MCP (`CallToolResult`) with texts and images is one, too. */
export interface ToolOutput {
  /** Blocks of the Messages API; images also as MCP has them. */
  content: string | ReadonlyArray<{ type: string; [field: string]: unknown }>;
  isError?: boolean;
  /** The output for programs, in the message's `tool_use_result`. */
  structured?: unknown;
  /** The same by its name in MCP. */
  structuredContent?: unknown;
}

/** What rules, hosts and people are told of a tool. */
export interface ToolExtras {
  /** `readOnly` tools may run beside each other. The names of MCP (`readOnlyHint`, …) are taken as well. */
  annotations?: {
    readOnly?: boolean;
    destructive?: boolean;
    idempotent?: boolean;
    openWorld?: boolean;
    readOnlyHint?: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint?: boolean;
    title?: string;
  };
  /** Input fields that are file paths: rules for paths then hold for this tool. */
  paths?: { field: string; access: 'read' | 'write'; defaultCwd?: boolean }[];
  /**
   * The input field that is a shell command: rules for commands then hold for it. The handler gets the text of the model there only where
   * all of it was approved; of a line whose commands were allowed one by one it gets what was read, printed anew for bash and dash.
   */
  commandParam?: string;
  /** What may be done about a call whose outcome was lost. */
  retry?: 'never' | 'run_again' | 'run_again_with_key';
  /** How long a call may take, in milliseconds; default `toolTimeoutMs` of the agent. */
  timeoutMs?: number;
}

/** A schema of a library that keeps https://standardschema.dev, such as Zod, Valibot or ArkType. */
export interface StandardSchema<Input = any, Output = any> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (...value: any[]) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema makes of an input. */
export type OutputOf<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['output']
  : never;

/** The same for an object with a schema for each field. */
export type OutputOfShape<Shape> = Flat<
  { [Field in keyof Shape as undefined extends OutputOf<Shape[Field]> ? never : Field]: OutputOf<Shape[Field]> } & {
    [Field in keyof Shape as undefined extends OutputOf<Shape[Field]> ? Field : never]?: OutputOf<Shape[Field]>;
  }
>;
type Flat<Type> = { [Field in keyof Type]: Type[Field] };

/** Answers the calls of a tool. What it throws is a failure that the model reads. */
export type ToolHandler<Input> = (
  input: Input,
  context: ToolContext,
) => string | ToolOutput | Promise<string | ToolOutput>;

/**
 * Makes a tool of a function. Its input is described by
 *
 * - a schema of a library that gives its JSON Schema (Zod from 4.2 on: `z.object({ city: z.string() })`),
 * - an object with such a schema for each field (`{ city: z.string() }`), as in the TypeScript Agent SDK, or
 * - JSON Schema of an object.
 *
 * An input that does not fit never gets to the handler: the model reads what is wrong with it. What the schema of a library makes of it
 * (defaults, transformations) is what the handler gets; rules, hooks and `canUseTool` see what the model wrote.
 *
 * Throws if the schema cannot be told to the model.
 */
export function tool<Schema extends StandardSchema>(
  name: string,
  description: string,
  schema: Schema,
  handler: ToolHandler<OutputOf<Schema>>,
  extras?: ToolExtras,
): Tool;
export function tool<Shape extends Record<string, StandardSchema>>(
  name: string,
  description: string,
  shape: Shape,
  handler: ToolHandler<OutputOfShape<Shape>>,
  extras?: ToolExtras,
): Tool;
export function tool<Input = any>(
  name: string,
  description: string,
  jsonSchema: object,
  handler: ToolHandler<Input>,
  extras?: ToolExtras,
): Tool;

// What has no `export` is not to be had from outside.
export {};
