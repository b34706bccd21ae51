/** May this call run? The person sees all of it, and what each answer means later. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { changeLine, restOf, visible } from '../model/tool-input.js';
import { Change, changeOf } from './change.jsx';

export function PermissionQuestion({ conversation, question }) {
  const { tool, input, reason, blockedPath } = question.entry;
  const [why, setWhy] = useState('');
  const heading = useRef();
  useEffect(() => {
    // Who writes something else is not torn away from it.
    const { activeElement } = document;
    if (!activeElement?.matches('input, textarea, select') || activeElement.id === 'prompt') heading.current.focus();
  }, []);
  const answer = (decision) => conversation.answer(question, decision);
  const title = `question-${question.entry.id}`;
  return (
    <section class="question" aria-labelledby={title}>
      <h3 id={title} ref={heading} tabindex={-1}>May {tool} run?</h3>
      <p>Asked because {reason}{blockedPath && <> (<code>{blockedPath}</code>)</>}.</p>
      <Asked tool={tool} input={input} />
      <div class="answers">
        <button class="primary" onClick={() => answer({ behavior: 'allow' })}>Allow once</button>
        {question.suggestions.map((suggestion) => (
          <button onClick={() => answer({ behavior: 'allow', change: suggestion })}>
            Allow always: <code>{visible(changeLine(suggestion))}</code>
          </button>
        ))}
      </div>
      <form
        class="deny"
        onSubmit={(event) => {
          event.preventDefault();
          answer({ behavior: 'deny', reason: why.trim() });
        }}
      >
        <label for={`${title}-why`}>What the model is told if you deny it</label>
        <input id={`${title}-why`} value={why} onInput={({ target }) => setWhy(target.value)} placeholder="The person denied this call." />
        <button class="danger">Deny</button>
      </form>
    </section>
  );
}

/** All that the call would do: nothing of its input is left out, and no character is hidden. */
function Asked({ tool, input }) {
  const change = changeOf({ name: tool, input });
  const isCommand = tool === 'Bash' && typeof input.command === 'string';
  const rest = change || isCommand ? restOf({ name: tool, input }) : input;
  return (
    <>
      {change && <p><code>{visible(change.path)}</code></p>}
      {change && <Change {...change} />}
      {isCommand && <pre tabindex={0} role="group" aria-label={`Command of ${tool}`}>{visible(input.command)}</pre>}
      {rest && <pre tabindex={0} role="group" aria-label={`Input of ${tool}`}>{visible(JSON.stringify(rest, undefined, 2))}</pre>}
    </>
  );
}
