/// <reference path="./windlass-wit.d.ts" />
import type { ErrorCode, Entry, Stat } from "windlass:host/filesystem@0.1.0";
import type { Failure } from "windlass:host/http@0.1.0";
import type { SecretHeader } from "windlass:host/secrets@0.1.0";
import type { StateError as StateErrorCode } from "windlass:host/state@0.1.0";
import type { Judgement } from "windlass:plugin/hooks@0.1.0";
import type { Image, Observation } from "windlass:plugin/types@0.1.0";

export type { Entry, ErrorCode, Image, Judgement, Observation, SecretHeader, Stat };

/** A JSON Schema. */
export type Schema = { [key: string]: unknown };

export interface Grants {
  /** The most that the plugin does with files of the workspace; `"none"` if left out. */
  filesystem?: "none" | "read" | "write";
  /** The directories that it asks for by what it needs them for; `config.directory` says where they are. */
  directories?: DeclaredDirectory[];
  /** The origins that it asks for, such as `https://api.example.com`: alone, for `GET`, or with their methods. */
  http?: (string | { origin: string; methods: Method[] })[];
  /** The keys that the host shall add to requests. */
  secrets?: DeclaredSecret[];
  /** The environment variables that it reads. */
  env?: string[];
  /** What it remembers between calls; `"none"` if left out. */
  state?: "none" | "session" | "durable";
}

export type Method = "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface DeclaredDirectory {
  /** By which the plugin and the grant know it: 1 to 64 letters, digits, `_` and `-`. */
  role: string;
  access: "read" | "write";
  /** What is expected there, for whoever grants it: at most 200 characters on one line. */
  description: string;
}

export interface DeclaredSecret {
  name: string;
  /** For whoever grants it. */
  description: string;
  /** The origins that it is sent to, which are among those of `http`. */
  audience: string[];
}

/** What one call needs at most. It gets no more. */
export interface Limits {
  memoryBytes?: number;
  timeoutMs?: number;
  outputBytes?: number;
  logBytes?: number;
  hostCalls?: number;
  /** Of the bodies of requests and answers. */
  httpBytes?: number;
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
  tools?: Tool[];
  hooks?: Hook[];
  grants?: Grants;
  limits?: Limits;
  /**
   * With `"session"`, what the tools keep in variables lasts from call to call of a session, at most; with `"call"`, or without it,
   * each call begins anew.
   */
  instance?: "call" | "session";
}

/** The exports of the component. */
export interface Exports {
  call(call: { name: string; input: string; observed: Observation[] }): object;
  judge(event: object): object;
  observe(event: object): void;
  declaration(): string;
}

/** A tool. */
export function tool<Input = any>(definition: Tool<Input>): Tool<Input>;

/** The exports of a plugin. */
export function plugin(plugin: Plugin): Exports;

/** What a hook may use. */
export interface HookContext {
  /** The event, such as `PreToolUse`. */
  event: string;
  /** The tool call that the event concerns. */
  toolUseId?: string;
  /** The directories that were granted by name or for a role. */
  files: Files;
  log: Log;
}

export interface HookDefinition<Returned> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  name: string;
  /** The event, such as `PreToolUse`. */
  on: string;
  /** What it runs for, such as `Write|Edit`; everything if left out. */
  matcher?: string;
  timeoutMs?: number;
  /** The input has the fields that the Agent SDK reference names for the event. */
  run(input: any, context: HookContext): Returned;
}

export interface Hook extends HookDefinition<Judgement | void> {
  readonly kind: "judge" | "observer";
}

/** A hook that may refuse. One that fails has refused. */
export function judge(definition: HookDefinition<Judgement>): Hook;

/** A hook that sees and changes nothing. */
export function observer(definition: HookDefinition<void>): Hook;

/** No opinion: rules and mode decide. */
export function pass(): Judgement;

/** Permission must be asked for, with a reason that the person reads. */
export function ask(reason: string): Judgement;

/** It is refused, with a reason that the model reads. */
export function deny(reason: string): Judgement;

/** The call may run with these restrictions. Patterns are absolute (`/work/secrets/*`), or a name alone (`*.pem`). */
export function narrow(restrictions: {
  /** No reading and no writing. */
  without?: string[];
  /** No writing. */
  withoutWriting?: string[];
  /** In milliseconds. */
  withinMs?: number;
}): Judgement;

export interface Request {
  /** `GET` if left out. */
  method?: Method;
  url: string | { toString(): string };
  headers?: { [name: string]: string } | [name: string, value: string][];
  body?: string | Uint8Array;
  /** A body as JSON, in place of `body`. */
  json?: unknown;
}

/** An answer, whatever its status. The host follows no redirect. */
export class Response {
  private constructor();
  readonly status: number;
  readonly headers: [name: string, value: string][];
  /** The first header of this name, in whatever letters. */
  header(name: string): string | undefined;
  /** The body, which can be read once; at most `limit` bytes, 1 MiB if left out. */
  bytes(limit?: number): Uint8Array;
  /** The body as text; what is not UTF-8 becomes U+FFFD. */
  text(limit?: number): string;
  /** The body read as JSON. */
  json(limit?: number): any;
}

/** Requests to the origins that the plugin declares and was granted. All functions throw `HttpError`. */
export const http: {
  send(request: Request): Response;
  get(url: Request["url"], options?: Pick<Request, "headers">): Response;
  postJson(url: Request["url"], value: unknown, options?: Pick<Request, "headers">): Response;
};

/** A request without an answer; the message is for the model. */
export class HttpError extends Error {
  readonly kind: Failure["tag"];
}

/** Keys that the host adds to requests; the plugin never sees their values. */
export const secrets: {
  /** Whether a secret can be used: it is declared, granted and there. */
  available(name: string): boolean;
  /** The header `authorization: Bearer …`. */
  bearer(secret: string): SecretHeader;
  /** The header `authorization: Basic …` with this user's name; the secret is the password. */
  basic(user: string, secret: string): SecretHeader;
  /** A header whose value is the secret alone. */
  header(name: string, secret: string): SecretHeader;
  /** Sends a request with secrets, to an origin that each is meant for. Throws `HttpError`. */
  send(request: Request, ...headers: SecretHeader[]): Response;
};

/** What the plugin remembers between its calls, as granted. A key has 1 to 120 bytes. All functions throw `StateError`. */
export const state: {
  get(key: string): Uint8Array | undefined;
  /** Adds or replaces a value: bytes, or a text as UTF-8. */
  set(key: string, value: string | Uint8Array): void;
  /** Removes a value, if there is one. */
  remove(key: string): void;
  /** The keys that begin with this text, sorted. */
  keys(prefix?: string): string[];
  /** The value of a key as it was given to `setJson`. */
  getJson(key: string): any;
  setJson(key: string, value: unknown): void;
};

/** State that is not given or not taken. */
export class StateError extends Error {
  readonly code: StateErrorCode;
}

/** Settings of the environment, and where the directories of roles are, by names that the plugin declares. */
export const config: {
  /** The value of a variable; `undefined` if it is not set, or was not granted. */
  get(name: string): string | undefined;
  /** The absolute path of the directory of a role; `undefined` if it was not granted. */
  directory(role: string): string | undefined;
};

/** What a long call is doing, for whoever waits for it. */
export const progress: {
  /** Reports what the call is doing and, if it is known, how much of it is done, between 0 and 1. */
  report(message: string, fraction?: number): void;
};

export interface Log {
  debug(message: unknown): void;
  info(message: unknown): void;
  warn(message: unknown): void;
  error(message: unknown): void;
}

/** Log lines for the host. */
export const log: Log;

/** A failed file operation; the message is for the model. */
export class FileError extends Error {
  readonly code: ErrorCode;
  /** Absolute. */
  readonly path: string;
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
