/** Where the person writes, sends and stops. */
import { useRef, useState } from 'preact/hooks';

/** What the script knows. */
const OFFERED = [
  'Fix the failing tests',
  'Change the test instead',
  'Write a changelog',
  'Stop in the middle',
  'Answer although the server is overloaded',
];

export function Composer({ conversation, isScripted, hasWords }) {
  const [text, setText] = useState('');
  const box = useRef();
  const { isRunning, isOpening } = conversation;
  const send = (prompt) => {
    const said = prompt.trim();
    if (!said || isRunning || isOpening) return;
    setText('');
    conversation.prompt(said);
    box.current.focus();
  };
  const pressed = (event) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send(text);
    }
  };
  const offered = hasWords ? [...OFFERED, 'Count the words of the README'] : OFFERED;
  return (
    <div class="composer">
      {isScripted && !isRunning && (
        <div class="offered" role="group" aria-label="Prompts that the script knows">
          {offered.map((prompt) => <button class="chip" onClick={() => send(prompt)}>{prompt}</button>)}
        </div>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send(text);
        }}
      >
        <label class="visually-hidden" for="prompt">Prompt</label>
        <textarea
          id="prompt"
          ref={box}
          rows={2}
          value={text}
          placeholder="Say what is to be done. Enter sends, Shift+Enter begins a line."
          onInput={({ target }) => setText(target.value)}
          onKeyDown={pressed}
        />
        {isRunning
          ? <button type="button" class="danger" onClick={() => conversation.interrupt()}>Stop</button>
          : <button class="primary" disabled={isOpening}>Send</button>}
      </form>
    </div>
  );
}
