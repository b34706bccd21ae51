/** May this call run? The person sees all of it, and what each answer means later. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { changeLine } from '../model/tool-input.js';
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
  const change = changeOf({ name: tool, input });
  const title = `question-${question.entry.id}`;
  return (
    <section class="question" aria-labelledby={title}>
      <h3 id={title} ref={heading} tabindex={-1}>May {tool} run?</h3>
      <p>Asked because {reason}{blockedPath && <> (<code>{blockedPath}</code>)</>}.</p>
      {change ? (
        <>
          <p><code>{change.path}</code></p>
          <Change {...change} />
        </>
      ) : (
        <pre tabindex={0} role="group" aria-label={`Input of ${tool}`}>{input.command ?? JSON.stringify(input, undefined, 2)}</pre>
      )}
      <div class="answers">
        <button class="primary" onClick={() => answer({ behavior: 'allow' })}>Allow once</button>
        {question.suggestions.map((suggestion) => (
          <button onClick={() => answer({ behavior: 'allow', change: suggestion })}>
            Allow always: <code>{changeLine(suggestion)}</code>
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
