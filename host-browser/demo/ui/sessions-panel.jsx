/** The sessions that this browser keeps. */
import { useEffect, useState } from 'preact/hooks';

/**
 * @param {object} props
 * @param {object} props.conversation
 * @param {() => Promise<object[]>} props.list
 * @param {(id: string) => Promise<void>} props.remove
 * @param {string} [props.unkept] why sessions end with the tab
 */
export function SessionsPanel({ conversation, list, remove, unkept }) {
  const [sessions, setSessions] = useState();
  const [problem, setProblem] = useState();
  const { id, isRunning } = conversation;
  const read = () => list().then(setSessions, (error) => setProblem(error.message));
  useEffect(() => {
    read();
  }, [id, isRunning]);
  const attempt = async (work) => {
    setProblem(undefined);
    try {
      await work();
      await read();
    } catch (error) {
      setProblem(error.message);
    }
  };
  return (
    <div class="sessions">
      <p class="row"><button class="primary" onClick={() => conversation.begin()}>New session</button></p>
      {unkept && <p class="note">{unkept}</p>}
      {problem && <p class="note bad" role="alert">{problem}</p>}
      {sessions?.length === 0 && <p class="faint">None yet. A session is kept from its first prompt on.</p>}
      <ul class="plain">
        {sessions?.map(({ sessionId, summary, lastModified }) => (
          <li class="card" key={sessionId}>
            <button class="open" aria-current={sessionId === id ? 'true' : undefined} onClick={() => attempt(() => conversation.open(sessionId))}>
              <span>{summary}</span>
              <small>{new Date(lastModified).toLocaleString()} · {sessionId.slice(0, 8)}</small>
            </button>
            <div class="row">
              <button aria-label={`Fork ${summary} (${sessionId.slice(0, 8)})`} onClick={() => attempt(() => conversation.fork(sessionId))}>Fork</button>
              <button
                aria-label={`Delete ${summary} (${sessionId.slice(0, 8)})`}
                onClick={() => attempt(async () => {
                  if (sessionId === id) await conversation.begin();
                  await remove(sessionId);
                })}
              >
                Delete
              </button>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
