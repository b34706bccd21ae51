/** The journal, step by step: what happened, why, and the page as it was then. */
import { useEffect, useRef } from 'preact/hooks';
import { described } from '../model/causes.js';

/**
 * @param {{ conversation: object, moment: number | undefined, setMoment: (moment?: number) => void }} props `moment`: how many entries
 *   are shown; `undefined` is now
 */
export function TimelinePanel({ conversation, moment, setMoment }) {
  const { entries } = conversation;
  const at = moment ?? entries.length;
  const go = (to) => setMoment(to >= entries.length ? undefined : Math.max(1, to));
  if (entries.length === 0) return <p class="faint">Nothing has happened yet. Send a prompt, and each step appears here with its cause.</p>;
  return (
    <div class="timeline">
      <div class="scrubber">
        <label for="moment">Step {at} of {entries.length}, replayed from the journal</label>
        <input
          id="moment"
          type="range"
          min={1}
          max={entries.length}
          value={at}
          aria-valuetext={`step ${at}: ${described(entries[at - 1], entries).title}`}
          onInput={({ target }) => go(Number(target.value))}
        />
        <div class="row">
          <button disabled={at <= 1} onClick={() => go(at - 1)}>Earlier</button>
          <button disabled={moment === undefined} onClick={() => go(at + 1)}>Later</button>
          <button disabled={moment === undefined} onClick={() => setMoment(undefined)}>Now</button>
        </div>
      </div>
      <Steps conversation={conversation} at={at} go={go} setMoment={setMoment} />
    </div>
  );
}

function Steps({ conversation, at, go, setMoment }) {
  const { entries } = conversation;
  const current = useRef();
  useEffect(() => current.current?.scrollIntoView({ block: 'nearest' }), [at]);
  return (
    <ol class="steps">
      {entries.map((entry, index) => {
        const { title, cause, tone = '' } = described(entry, entries);
        const isCurrent = index + 1 === at;
        return (
          <li ref={isCurrent ? current : undefined} class={index + 1 > at ? 'later' : ''}>
            <button class={`step ${tone}`} aria-current={isCurrent ? 'step' : undefined} onClick={() => go(index + 1)}>
              <span class="title">{title}</span>
              <time dateTime={new Date(entry.at).toISOString()}>{new Date(entry.at).toLocaleTimeString()}</time>
              {cause && <small>{cause}</small>}
            </button>
            {isCurrent && isPlaceToFork(entry) && (
              <button
                onClick={() => {
                  setMoment(undefined);
                  conversation.fork(conversation.id, { entries: entries.slice(0, at), message: entry.message.uuid });
                }}
              >
                Fork from here
              </button>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** Whether a session can go on behind this entry: at a result of a tool, or where the model had said all. */
function isPlaceToFork({ message }) {
  if (message?.type === 'user') return true;
  return message?.type === 'assistant' && !message.error && message.message.content.every(({ type }) => type !== 'tool_use');
}
