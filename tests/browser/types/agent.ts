/** Agents, their options, runs and messages as people write them. */
import { Agent, MemoryFileSystem, SystemClock, init, query } from 'windlass';
import type {
  AgentDefinition,
  AgentOptions,
  CanUseTool,
  Clock,
  ContentBlock,
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookInputOf,
  HookJSONOutput,
  Message,
  ModuleSource,
  Options,
  PermissionMode,
  PermissionResult,
  PermissionUpdate,
  Prompt,
  Query,
  PreToolUseHookInput,
  ResultMessage,
  RetryPolicy,
  Run,
  SDKMessage,
  SDKUserMessage,
  Session,
  SessionOptions,
} from 'windlass';
import core from 'windlass/core.wasm';
import { fileTools } from 'windlass/files';

const scout: AgentDefinition = { description: 'Looks around.', prompt: 'You look around.', tools: ['Read'], maxTurns: 3 };
const ask: CanUseTool = async (name, input, { suggestions, toolUseID, signal }): Promise<PermissionResult> => {
  const accepted: PermissionUpdate[] = suggestions;
  if (signal.aborted || name === toolUseID) return { behavior: 'deny', message: 'no' };
  return { behavior: 'allow', updatedInput: input, updatedPermissions: accepted };
};
const observe: HookCallback = (input) => ({ systemMessage: input.hook_event_name });
const matcher: HookCallbackMatcher = { matcher: 'Write', hooks: [observe], timeout: 5 };
const event: HookEvent = 'PreToolUse';
const retry: RetryPolicy = { maxRetries: 3 };
const clock: Clock = new SystemClock();
const mode: PermissionMode = 'plan';

export const options: AgentOptions = {
  model: 'claude-sonnet-4-6',
  systemPrompt: ['One.', 'Two.'],
  agents: { scout },
  outputFormat: { type: 'json_schema', schema: { type: 'object' } },
  plugins: [await fileTools()],
  hooks: { [event]: [matcher] },
  files: new MemoryFileSystem({ files: { '/a': 'text', '/b': new Uint8Array() }, clock }),
  canUseTool: ask,
  permissionMode: mode,
  thinking: { type: 'enabled', budgetTokens: 2000 },
  effort: 'high',
  retry,
  clock,
  seed: new Uint8Array(32),
};
const guard: HookCallback = async (input) => {
  if (input.hook_event_name !== 'PreToolUse') return {};
  const path: string = input.tool_input.file_path;
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: path === '/.env' ? 'deny' : 'ask' } };
};
export const hooked: Options = {
  hooks: {
    PreToolUse: [{ matcher: 'Write', hooks: [guard, async ({ tool_input: { to } }) => ({ suppressOutput: to === '' })] }],
    SessionEnd: [{ hooks: [({ reason }) => console.log(reason.length)] }],
  },
  effort: 'xhigh',
  abortController: new AbortController(),
};
export const submitted: HookCallback<'UserPromptSubmit'> = ({ prompt }: HookInputOf<'UserPromptSubmit'>) => {
  const output: HookJSONOutput = prompt === '' ? { decision: 'block', reason: 'empty' } : { async: true };
  return output;
};
// @ts-expect-error a decision that there is not
export const wrong: HookJSONOutput = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'maybe' } };

// @ts-expect-error an option that there is not
export const misspelt: AgentOptions = { modle: 'x' };
// @ts-expect-error an event that there is not
export const never: AgentOptions = { hooks: { PreTolUse: [matcher] } };
// @ts-expect-error names of tools are no tools
export const names: AgentOptions = { tools: ['Read'] };

export async function ran(): Promise<ResultMessage> {
  await init(core);
  const sources: ModuleSource[] = [core, '/core.wasm', new URL('https://a.example/'), fetch('/core.wasm'), new Uint8Array()];
  await init(sources[0]);
  const agent = new Agent(options);
  const again: SessionOptions = { resume: 'id', forkSession: true };
  await using session: Session = agent.session(again);
  const prompt: Prompt = [{ type: 'text', text: 'Hello.' }];
  const run: Run = session.prompt(prompt, { signal: AbortSignal.timeout(1000) });
  for await (const message of run) console.log(told(message));
  for await (const line of session.prompt('More.').lines()) line.trimEnd();
  await session.setModel();
  await session.setPermissionMode('acceptEdits');
  const copy = await (await session.fork({ upToMessageId: 'id' })).snapshot();
  await (await agent.restore(copy)).close();
  return agent.run('Hello.');
}

function told(message: Message): string | number | undefined {
  switch (message.type) {
    case 'system':
      if (message.subtype === 'init') return message.tools.join();
      return message.subtype === 'api_retry' ? message.retry_delay_ms : message.subtype;
    case 'assistant':
      return message.message.content.map(text).join();
    case 'user':
      return message.message.content.length;
    case 'result':
      return message.result ?? message.errors?.join();
    case 'tool_progress':
      return message.elapsed_time_seconds;
    default:
      return message.type;
  }
}

function text(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  return block.type === 'tool_use' ? `${block.name} ${block.input['path']}` : '';
}

export async function asked(): Promise<void> {
  const abortController = new AbortController();
  const single: Query = query({ prompt: 'Hello.', options: { ...options, abortController } });
  await single.interrupt();
  async function* prompts() {
    yield { type: 'user' as const, message: { role: 'user' as const, content: 'Hello.' } };
  }
  for await (const message of query({ prompt: prompts() })) if (message.type === 'result') console.log(message.structured_output);
  await single.close();
}

/** A program that was written for the TypeScript Agent SDK. */
export async function ported(prompts: AsyncIterable<SDKUserMessage>): Promise<string> {
  const canSee = (input: PreToolUseHookInput | HookInput): boolean => 'tool_name' in input;
  await using messages = query({ prompt: prompts, options: { hooks: { PreToolUse: [{ hooks: [async (input) => ({ continue: canSee(input) })] }] } } });
  for await (const message of messages) {
    const kept: SDKMessage = message;
    if (kept.type !== 'result') continue;
    const text: string = kept.subtype === 'success' ? kept.result : kept.errors.join('\n');
    return text;
  }
  return '';
}
