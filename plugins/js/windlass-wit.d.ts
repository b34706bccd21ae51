// The interfaces of `wit/`, as componentize-qjs has them. Made by jco (tests/languages/wit-types.mjs); do not edit.

declare module 'windlass:host/config@0.1.0' {
  /**
   * None if the variable is not set, not granted or not declared.
   */
  export function get(name: string): string | undefined;
}

declare module 'windlass:host/filesystem@0.1.0' {
  /**
   * The trees this call was granted.
   */
  export function roots(): Array<Root>;
  /**
   * What relative paths start from; absolute.
   */
  export function workingDirectory(): string;
  export type ErrorCode = import('windlass:host/types@0.1.0').ErrorCode;
  /**
   * # Variants
   *
   * ## `"read"`
   *
   * ## `"write"`
   */
  export type Access = 'read' | 'write';
  /**
   * # Variants
   *
   * ## `"file"`
   *
   * ## `"directory"`
   *
   * ## `"symlink"`
   *
   * ## `"other"`
   */
  export type EntryKind = 'file' | 'directory' | 'symlink' | 'other';
  export interface Stat {
    kind: EntryKind,
    /**
     * Bytes.
     */
    size: number,
    /**
     * Milliseconds since 1970, with fraction where the host knows it; 0 when unknown.
     */
    modified: number,
  }
  export interface Entry {
    name: string,
    kind: EntryKind,
    /**
     * Bytes; 0 unless details were asked for.
     */
    size: number,
    /**
     * Milliseconds since 1970; 0 unless details were asked for.
     */
    modified: number,
  }
  export interface Page {
    entries: Array<Entry>,
    /**
     * Give it back to go on; none when this was the last page.
     */
    next?: number,
  }
  export interface WriteOptions {
    /**
     * Replace the file only if its content still has this digest (`sha256:<hex>`); none replaces anything.
     */
    expectedDigest?: string,
    /**
     * Fail with `exists` instead of replacing.
     */
    createNew: boolean,
    /**
     * Create missing parent directories.
     */
    createParents: boolean,
  }
  export interface Root {
    /**
     * The absolute path people and the model know this tree by.
     */
    path: string,
    access: Access,
    directory: Directory,
  }

  export class Directory implements Disposable {
    /**
     * This type does not have a public constructor.
     */
    private constructor();
    stat(path: string): Stat;
    /**
    * At most `max` bytes from `offset`; fewer at the end of the file.
    */
    read(path: string, offset: number, max: number): Uint8Array;
    /**
    * Entries sorted by name. `cursor` none starts; `details` fills size and time.
    */
    list(path: string, cursor: number | undefined, details: boolean): Page;
    /**
    * Replaces the file in one step: readers see the old content or the new, never a part.
    */
    write(path: string, data: Uint8Array, options: WriteOptions): void;
    createDirectory(path: string): void;
    /**
    * Removes a file or an empty directory.
    */
    remove(path: string): void;
    [Symbol.dispose](): void;
  }
}

declare module 'windlass:host/http@0.1.0' {
  /**
   * Sends a request and waits for the head of the answer.
   */
  export function send(request: Request): Response;
  export type ErrorCode = import('windlass:host/types@0.1.0').ErrorCode;
  export interface Header {
    name: string,
    value: string,
  }
  export interface Request {
    method: string,
    /**
     * An absolute URL of a granted origin, or a path below the endpoint that the host named.
     */
    url: string,
    headers: Array<Header>,
    /**
     * In pieces, sent one after another.
     */
    body: Array<Uint8Array>,
  }
  export type Failure = FailureConnect | FailureInterrupted | FailureRefused | FailureTooLarge;
  /**
   * Nothing was reached.
   */
  export interface FailureConnect {
    tag: 'connect',
    val: string,
  }
  /**
   * The connection broke or timed out.
   */
  export interface FailureInterrupted {
    tag: 'interrupted',
    val: string,
  }
  /**
   * Not granted, or not a request the host sends.
   */
  export interface FailureRefused {
    tag: 'refused',
    val: string,
  }
  /**
   * The answer exceeded the host's limit.
   */
  export interface FailureTooLarge {
    tag: 'too-large',
    val: string,
  }
  export interface Response {
    status: number,
    headers: Array<Header>,
    body: Body,
  }

  export class Body implements Disposable {
    /**
     * This type does not have a public constructor.
     */
    private constructor();
    /**
    * The next piece, of at most `max` bytes; empty at the end. May wait.
    */
    read(max: number): Uint8Array;
    [Symbol.dispose](): void;
  }
}

declare module 'windlass:host/log@0.1.0' {
  export function log(level: Level, message: string): void;
  /**
   * # Variants
   *
   * ## `"debug"`
   *
   * ## `"info"`
   *
   * ## `"warn"`
   *
   * ## `"error"`
   */
  export type Level = 'debug' | 'info' | 'warn' | 'error';
}

declare module 'windlass:host/progress@0.1.0' {
  /**
   * `fraction` is between 0 and 1. Reports beyond what the host takes are dropped.
   */
  export function report(message: string, fraction: number | undefined): void;
}

declare module 'windlass:host/secrets@0.1.0' {
  /**
   * Whether `send` can use this secret. A secret that is missing, not granted or not declared is not available.
   */
  export function available(name: string): boolean;
  /**
   * As `http.send`, with these headers: only to an origin of each secret's audience. The answer must not be compressed, and
   * the request must not ask for a part of a resource.
   */
  export function send(request: Request, headers: Array<SecretHeader>): Response;
  export type Request = import('windlass:host/http@0.1.0').Request;
  export type Response = import('windlass:host/http@0.1.0').Response;
  export type Failure = import('windlass:host/http@0.1.0').Failure;
  export interface SecretHeader {
    /**
     * The header that the host sets, such as `authorization`. The request must not have it.
     */
    header: string,
    /**
     * The declared name of the secret.
     */
    secret: string,
    /**
     * What stands before the secret, such as `Bearer `.
     */
    prefix: string,
    /**
     * If given, the value is the prefix and base64 of `user:secret` (the prefix is `Basic ` then).
     */
    user?: string,
  }
}

declare module 'windlass:host/state@0.1.0' {
  export function get(key: string): Uint8Array | undefined;
  /**
   * Adds or replaces a value, as a whole or not at all.
   */
  export function set(key: string, value: Uint8Array): void;
  /**
   * Succeeds if there was none, too.
   */
  export function remove(key: string): void;
  /**
   * The keys that begin with the prefix, sorted.
   */
  export function keys(prefix: string): Array<string>;
  /**
   * # Variants
   *
   * ## `"not-granted"`
   *
   * No state was granted.
   * ## `"invalid"`
   *
   * The key is empty, too long or has a control character.
   * ## `"full"`
   *
   * The value, or all of them together, would be larger than the host keeps.
   * ## `"io"`
   *
   * The host's disk failed.
   */
  export type StateError = 'not-granted' | 'invalid' | 'full' | 'io';
}

declare module 'windlass:host/types@0.1.0' {
  /**
   * Why the host refused or failed. Denied and missing look the same to a guest on purpose:
   * what lies outside its grant is `not-found`; the host's own log says which it was.
   * # Variants
   *
   * ## `"not-found"`
   *
   * ## `"exists"`
   *
   * ## `"not-directory"`
   *
   * ## `"is-directory"`
   *
   * ## `"read-only"`
   *
   * The grant allows reading here, not writing.
   * ## `"invalid"`
   *
   * Not a regular file or directory (a socket, a pipe, a device), or a malformed argument.
   * ## `"too-large"`
   *
   * Larger than the host hands out in one piece.
   * ## `"changed"`
   *
   * The file changed since the digest that was expected.
   * ## `"cancelled"`
   *
   * The call was cancelled or is out of time.
   * ## `"io"`
   *
   * The host's disk or network failed.
   */
  export type ErrorCode = 'not-found' | 'exists' | 'not-directory' | 'is-directory' | 'read-only' | 'invalid' | 'too-large' | 'changed' | 'cancelled' | 'io';
}

declare module 'windlass:plugin/hooks@0.1.0' {
  export interface HookEvent {
    /**
     * One of the hooks in the declaration, by its name.
     */
    hook: string,
    /**
     * The event: `PreToolUse`, `Stop`, …
     */
    event: string,
    /**
     * What happened: a JSON object with the fields that the Agent SDK reference names for inputs of hooks.
     */
    input: string,
    /**
     * The tool call that the event concerns.
     */
    toolUseId?: string,
  }
  /**
   * # Variants
   *
   * ## `"read"`
   *
   * No reading, no listing and no writing.
   * ## `"write"`
   *
   * No writing.
   */
  export type DeniedAccess = 'read' | 'write';
  export interface DeniedPath {
    /**
     * A pattern in the style of gitignore: absolute (`/work/secrets/**`), at any depth (`**\/.env`), or a name alone (`*.pem`).
     */
    pattern: string,
    access: DeniedAccess,
  }
  export interface Narrowing {
    /**
     * What the call cannot reach, beside what rules deny. Only for tools whose files the host resolves: those of components.
     */
    denyPaths: Array<DeniedPath>,
    /**
     * A time limit in milliseconds, if it is shorter than the call's own.
     */
    timeoutMs?: number,
  }
  /**
   * There is no *allow*: without the hook, the call could do at least as much.
   */
  export type Judgement = JudgementPass | JudgementAsk | JudgementDeny | JudgementNarrow;
  /**
   * No opinion: rules and mode decide.
   */
  export interface JudgementPass {
    tag: 'pass',
  }
  /**
   * Permission must be asked for, with this reason. At `PreToolUse` and `PermissionRequest`.
   */
  export interface JudgementAsk {
    tag: 'ask',
    val: string,
  }
  /**
   * It is refused, with this reason, which the model reads.
   */
  export interface JudgementDeny {
    tag: 'deny',
    val: string,
  }
  /**
   * The call may run with these restrictions, if rules and mode let it. At `PreToolUse`.
   */
  export interface JudgementNarrow {
    tag: 'narrow',
    val: Narrowing,
  }
}

declare module 'windlass:plugin/types@0.1.0' {
  /**
   * What an earlier call saw of a file.
   */
  export interface Observation {
    /**
     * Absolute path.
     */
    path: string,
    /**
     * `sha256:<hex>` of the whole content at that moment.
     */
    digest: string,
    /**
     * Whether the model saw all of it.
     */
    whole: boolean,
  }
  export interface ToolCall {
    /**
     * One of the names in the declaration.
     */
    name: string,
    /**
     * The input: a JSON object, valid against the declared schema.
     */
    input: string,
    /**
     * What earlier calls saw of files in the granted trees.
     */
    observed: Array<Observation>,
  }
  export interface Image {
    /**
     * `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
     */
    mediaType: string,
    data: Uint8Array,
  }
  export type Content = ContentText | ContentImage;
  export interface ContentText {
    tag: 'text',
    val: string,
  }
  export interface ContentImage {
    tag: 'image',
    val: Image,
  }
  export interface ToolResult {
    /**
     * What the model reads.
     */
    content: Array<Content>,
    /**
     * The tool failed, and the content says how.
     */
    isError: boolean,
    /**
     * The structured output for programs, as JSON.
     */
    structured?: string,
    /**
     * Files this call saw or wrote.
     */
    observed: Array<Observation>,
  }
}
