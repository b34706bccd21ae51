/** What may run: modes, and what a person or a callback decides. */

/**
 * What runs without a rule that allows it: in `default` nothing, in `acceptEdits` and `auto` changes of files in the working
 * directory, in `bypassPermissions` all that nothing denies. In `plan` nothing changes anything, in `dontAsk` what would be asked about is denied.
 */
export type PermissionMode = 'default' | 'acceptEdits' | 'auto' | 'plan' | 'dontAsk' | 'bypassPermissions';

/** Decides about a call. What it throws denies the call, and so does an answer that is none, which `onWarning` is told. */
export type CanUseTool = (
  toolName: string,
  input: Record<string, unknown>,
  context: {
    /** Fires when nobody waits for the decision any more. */
    signal: AbortSignal;
    toolUseID: string;
    /** The path outside the working directory that made it ask. */
    blockedPath?: string;
    decisionReason: string;
    /** Changes of the permissions of which each lets such calls run unasked; hand back those you accept. */
    suggestions: PermissionUpdate[];
    /** The subagent that calls. */
    agentID?: string;
  },
) => PermissionResult | Promise<PermissionResult>;

/** A call that may run. */
export interface AllowedCall {
  /** The name of its effect: the same when the call is run again. */
  effectId: string;
  toolUseID: string;
  /** The call that began the subagent which calls. */
  parentToolUseID: string | null;
  toolName: string;
  /** Which rule, mode, hook or person let it run, to be read behind "because". */
  reason: string;
}

/** A change of the permissions (Agent SDK reference, `PermissionUpdate`); here all of them hold for the session. */
export type PermissionUpdate = (
  | {
      type: 'addRules' | 'replaceRules' | 'removeRules';
      rules: { toolName: string; ruleContent?: string }[];
      behavior: 'allow' | 'deny' | 'ask';
    }
  | { type: 'setMode'; mode: 'default' | 'acceptEdits' | 'auto' | 'plan' | 'dontAsk' | 'bypassPermissions' }
  | { type: 'addDirectories' | 'removeDirectories'; directories: string[] }
) & { destination: 'userSettings' | 'projectSettings' | 'localSettings' | 'session' | 'cliArg' };

/**
 * A decision: with `updatedInput` the call runs with another input, `updatedPermissions` hold from now on; with `interrupt` the run
 * ends.
 */
export type PermissionResult =
  | { behavior: 'allow'; updatedInput?: Record<string, unknown>; updatedPermissions?: PermissionUpdate[] }
  | { behavior: 'deny'; message: string; interrupt?: boolean };

// What has no `export` is not to be had from outside.
export {};
