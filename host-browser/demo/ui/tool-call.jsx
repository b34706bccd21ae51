/** A tool call: what it is to do, what was decided about it, and what came of it. */
import { inputLine, visible } from '../model/tool-input.js';
import { textOf } from '../model/journal.js';
import { Change, changeOf } from './change.jsx';

export function ToolCall({ call, isAsked }) {
  const state = stateOf(call);
  const change = changeOf(call);
  return (
    <details class={`call ${state.name}`} open={change !== undefined && !isAsked}>
      <summary>
        <span class="mark" aria-hidden="true">{state.mark}</span>
        <span class="name">{call.name}</span>
        <span class="input">{visible(inputLine(call.input))}</span>
        <span class="state">{state.text}</span>
      </summary>
      {change ? <Change {...change} /> : <Block label={`Input of ${call.name}`} text={JSON.stringify(call.input, undefined, 2)} />}
      {call.answer && <p class="decision">{decision(call.answer)}</p>}
      {call.result !== undefined && <Block label={`Result of ${call.name}`} text={textOf(call.result)} />}
    </details>
  );
}

function Block({ label, text }) {
  return <pre tabindex={0} role="group" aria-label={label}>{text}</pre>;
}

function stateOf({ result, isError, question, answer, isOver }) {
  if (result !== undefined && answer?.behavior === 'deny') return { name: 'denied', mark: '⊘', text: 'denied by you' };
  if (result !== undefined && isError) return { name: 'failed', mark: '✗', text: 'failed' };
  if (result !== undefined) return { name: 'done', mark: '✓', text: 'done' };
  if (question && !answer) return { name: 'asks', mark: '?', text: 'waits for you' };
  if (isOver) return { name: 'failed', mark: '✗', text: 'stopped' };
  return { name: 'runs', mark: '…', text: 'running' };
}

function decision({ behavior, changes, reason }) {
  if (behavior === 'deny') return reason ? `You denied it: ${reason}` : 'You denied it.';
  return changes?.length ? `You allowed it always: ${changes.join(', ')}` : 'You allowed it once.';
}
