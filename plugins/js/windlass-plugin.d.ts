/** A JSON Schema. */
export type Schema = { [key: string]: unknown };

export interface Grants {
  /** The most that the plugin asks for; `"none"` if left out. */
  filesystem?: "none" | "read" | "write";
  /** The origins that it asks for, such as `https://api.example.com`. */
  http?: string[];
}

/** What one call needs at most. It gets no more. */
export interface Limits {
  memoryBytes?: number;
  timeoutMs?: number;
  outputBytes?: number;
}

export interface Annotations {
  /** Calls of read-only tools may run side by side. */
  readOnly?: boolean;
  destructive?: boolean;
  idempotent?: boolean;
  openWorld?: boolean;
}

/** A field of the input that is a file path: permission rules judge it, and a call is granted what follows from it. */
export interface PathField {
  field: string;
  access: "read" | "write";
  /** The working directory is meant when the field is absent. */
  default_cwd?: boolean;
}

export interface Image {
  mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  data: Uint8Array;
}

/** What a call saw of a file. */
export interface Observation {
  /** Absolute. */
  path: string;
  /** `sha256:` and the hexadecimal digest of the whole content. */
  digest: string;
  /** Whether the model saw all of it. */
  whole: boolean;
}

export interface ToolResult {
  /** What the model reads. */
  content: (string | Image)[];
  /** The tool failed, and the content says how. */
  isError?: boolean;
  /** The output for programs: anything that has a JSON form. */
  structured?: unknown;
  observed?: Observation[];
}

/** What a call may use. */
export interface Context {
  files: Files;
  log: Log;
  /** What earlier calls saw of files in the granted directories. */
  observed: Observation[];
}

export interface Tool<Input = any> {
  /** What the model calls it: 1 to 64 letters, digits, `_` and `-`. */
  name: string;
  /** What it does: the model reads this. */
  description: string;
  /** The host checks inputs against it before a call. */
  inputSchema: Schema;
  annotations?: Annotations;
  paths?: PathField[];
  /** What may be done about a call whose outcome was lost in a crash; `"never"` if left out. */
  retry?: "never" | "run_again" | "run_again_with_key";
  timeoutMs?: number;
  /** Answers a call. An error that it throws becomes a failure whose message the model reads. */
  run(input: Input, context: Context): string | ToolResult;
}

export interface Plugin {
  name: string;
  version: string;
  tools: Tool[];
  grants?: Grants;
  limits?: Limits;
}

/** The exports of the component. */
export interface Exports {
  call(call: { name: string; input: string; observed: Observation[] }): object;
  declaration(): string;
}

/** A tool. */
export function tool<Input = any>(definition: Tool<Input>): Tool<Input>;

/** The exports of a plugin. */
export function plugin(plugin: Plugin): Exports;

export interface Log {
  debug(message: unknown): void;
  info(message: unknown): void;
  warn(message: unknown): void;
  error(message: unknown): void;
}

/** Log lines for the host. */
export const log: Log;

export type ErrorCode =
  | "not-found"
  | "exists"
  | "not-directory"
  | "is-directory"
  | "read-only"
  | "invalid"
  | "too-large"
  | "changed"
  | "cancelled"
  | "io";

/** A failed file operation; the message is for the model. */
export class FileError extends Error {
  readonly code: ErrorCode;
  /** Absolute. */
  readonly path: string;
}

export interface Stat {
  kind: "file" | "directory" | "symlink" | "other";
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970; 0 when unknown. */
  modified: number;
}

export interface Entry extends Stat {
  name: string;
}

export interface WriteOptions {
  /** Fail instead of replacing. */
  createNew?: boolean;
  /** Make the directories on the way. */
  createParents?: boolean;
  /** Replace the file only if its content still has this digest. */
  expectedDigest?: string | null;
}

/**
 * The granted directories. Paths are absolute, or relative to the working directory; what was not granted looks as if it
 * did not exist. All functions throw `FileError`.
 */
export class Files {
  /** The granted directories. */
  readonly roots: { path: string; access: "read" | "write" }[];
  /** What relative paths start from: absolute. */
  readonly workingDirectory: string;
  /** The absolute form of a path, with `.` and `..` worked out by name. */
  absolute(path: string): string;
  /** The content of a file as text; what is not UTF-8 becomes U+FFFD. */
  readText(path: string): string;
  readBytes(path: string): Uint8Array;
  /** Replaces a file in one step: readers see the old content or the new. */
  writeText(path: string, text: string, options?: WriteOptions): void;
  writeBytes(path: string, bytes: Uint8Array, options?: WriteOptions): void;
  /** The entries of a directory, sorted by name; sizes and times are 0 without `details`. */
  list(path?: string, options?: { details?: boolean }): Entry[];
  stat(path: string): Stat;
  exists(path: string): boolean;
  /** Makes a directory; the one that it lies in must be there. */
  createDirectory(path: string): void;
  /** Removes a file or an empty directory. */
  remove(path: string): void;
}
