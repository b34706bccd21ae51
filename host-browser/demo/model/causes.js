/** What each entry of a journal is called in the timeline, and why it came about. */
import { inputLine } from './tool-input.js';
import { textOf } from './journal.js';

/** @returns {{ title: string, cause?: string, tone?: 'good' | 'bad' }} */
export function described(entry, entries) {
  switch (entry.kind) {
    case 'opened':
      return { title: entry.from ? 'Session forked' : entry.resumed ? 'Session resumed' : 'Session begun', cause: entry.why };
    case 'prompt':
      return { title: `Prompt: ${entry.text}` };
    case 'partial':
      return { title: 'Text that was cut off', cause: 'The answer ended before this block was complete, so the session does not keep it.' };
    case 'question':
      return question(entry);
    case 'answer':
      return answer(entry);
    case 'allowed':
      return { title: `${entry.tool} may run`, cause: `Because ${entry.reason}.`, tone: 'good' };
    case 'log':
      return { title: `${entry.plugin} logs: ${entry.text}`, cause: `level ${entry.level}` };
    case 'failure':
      return { title: entry.text, tone: 'bad' };
    case 'message':
      return message(entry.message, entries);
    default:
      return { title: entry.kind };
  }
}

function question({ tool, reason, blockedPath }) {
  const place = blockedPath ? ` (${blockedPath})` : '';
  return { title: `Question: may ${tool} run?`, cause: `Asked because ${reason}${place}.` };
}

function answer({ behavior, changes, reason }) {
  if (behavior === 'deny') return { title: 'Denied by you', cause: reason, tone: 'bad' };
  if (changes?.length) return { title: 'Allowed by you, always', cause: `Wrote ${changes.join(', ')}.`, tone: 'good' };
  return { title: 'Allowed by you, once', cause: 'No rule was written: the next such call asks again.', tone: 'good' };
}

function message(said, entries) {
  switch (said.type) {
    case 'assistant':
      return assistant(said);
    case 'user':
      return results(said, entries);
    case 'result':
      return result(said);
    case 'system':
      return system(said);
    default:
      return { title: said.type };
  }
}

function assistant({ message: { content, stop_reason: stop }, error }) {
  if (error) return { title: textOf(content), cause: `error ${error}`, tone: 'bad' };
  const parts = content.map((block) => {
    if (block.type === 'tool_use') return `${block.name} ${inputLine(block.input)}`;
    return block.type === 'thinking' ? 'thinking' : `“${block.text.slice(0, 80).trim()}${block.text.length > 80 ? '…' : ''}”`;
  });
  return { title: `Model: ${parts.join(' · ')}`, cause: stop ? `stop reason ${stop}` : undefined };
}

function results({ message: { content } }, entries) {
  if (typeof content === 'string') return { title: content };
  const found = content.filter(({ type }) => type === 'tool_result');
  if (found.length === 0) return { title: textOf(content) };
  const [{ tool_use_id: id, content: said, is_error: isError }] = found;
  const name = callOf(id, entries)?.name ?? 'tool';
  if (!isError) return { title: `${name} answered`, cause: ranBecause(id, entries), tone: 'good' };
  const text = textOf(said);
  return { title: `${name} failed`, cause: text.split('\n').slice(0, 2).join(' ').slice(0, 200), tone: 'bad' };
}

/** Why a call ran: what the person said, else what the loop gave as the reason of its decision. */
function ranBecause(id, entries) {
  const own = entries.find((entry) => entry.kind === 'answer' && entry.id === id);
  if (own) return own.changes?.length ? `Ran because you allowed it always: ${own.changes.join(', ')}.` : 'Ran because you allowed it once.';
  const allowed = entries.findLast((entry) => entry.kind === 'allowed' && entry.id === id);
  return allowed && `Ran unasked: ${allowed.reason}.`;
}

function callOf(id, entries) {
  for (const { message } of entries) {
    const call = message?.type === 'assistant' && message.message.content.find((block) => block.id === id);
    if (call) return call;
  }
  return undefined;
}

function result(said) {
  const facts = `${said.num_turns} turns · $${said.total_cost_usd.toFixed(4)} · ${(said.duration_ms / 1000).toFixed(1)} s`;
  if (said.subtype === 'success') return { title: 'Answer complete', cause: facts, tone: 'good' };
  const why = said.errors?.join('; ') ?? said.subtype;
  return { title: why === 'interrupted' ? 'Stopped by you' : `Ended: ${said.subtype}`, cause: `${why} · ${facts}`, tone: 'bad' };
}

function system(said) {
  switch (said.subtype) {
    case 'init':
      return { title: `Run begins with ${said.model}`, cause: `${said.tools.length} tools, mode ${said.permissionMode}` };
    case 'api_retry':
      return { title: `Retry ${said.attempt} of ${said.max_retries} after ${said.retry_delay_ms} ms`, cause: said.message };
    case 'hook_response':
      return hook(said);
    case 'permission_denied':
      return { title: `${said.tool_name} denied`, cause: said.message, tone: 'bad' };
    case 'status':
      return { title: said.permissionMode ? `Permission mode: ${said.permissionMode}` : `Status: ${said.status}` };
    default:
      return { title: said.subtype };
  }
}

function hook({ hook_name: name, output, outcome }) {
  const decision = output?.match(/"permissionDecision":"(\w+)"/)?.[1];
  const reason = output?.match(/"permissionDecisionReason":"((?:[^"\\]|\\.)*)"/)?.[1];
  const verdict = decision ?? (output?.includes('"deny"') ? 'deny' : 'no opinion');
  const cause = reason ?? (output && output !== '{}' ? output.slice(0, 200) : `outcome ${outcome}`);
  return { title: `Hook ${name}: ${verdict}`, cause, tone: verdict === 'deny' || outcome !== 'success' ? 'bad' : undefined };
}
