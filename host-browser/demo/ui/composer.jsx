/** Where the person writes, sends and stops. */
import { useRef, useState } from 'preact/hooks';

/** @param {{ conversation: object, offered: string[] }} props `offered`: prompts that the script knows */
export function Composer({ conversation, offered }) {
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
  return (
    <div class="composer">
      {offered.length > 0 && !isRunning && (
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
          placeholder="What is to be done?"
          title="Enter sends, Shift+Enter begins a line"
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
