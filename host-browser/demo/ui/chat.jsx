/** The conversation: what was said and done, what is arriving, and the questions that wait. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { replay } from '../model/journal.js';
import { Markdown } from './markdown.jsx';
import { PermissionQuestion } from './permission-question.jsx';
import { ToolCall } from './tool-call.jsx';

/** @param {{ conversation: object, workspace: object, entries: object[], isPast: boolean }} props `isPast`: a moment of the timeline is shown */
export function Chat({ conversation, workspace, entries, isPast }) {
  const { items } = useMemo(() => replay(entries), [entries]);
  const { partial, questions } = conversation;
  // Drawn again when there is something new, not with each piece of what is arriving.
  const shown = useMemo(() => items.map((item, index) => (
    <Item
      key={item.id ?? index}
      item={item}
      isAsked={!isPast && questions.some(({ entry }) => entry.id === item.id)}
      isNew={index >= items.length - 2}
    />
  )), [items, questions, isPast]);
  const end = useFollowed([entries, partial?.text, questions.length]);
  return (
    <div class="chat">
      {items.length === 0 && <Welcome workspace={workspace} />}
      {shown}
      {!isPast && partial && <Arriving partial={partial} />}
      {!isPast && questions.map((question) => (
        <PermissionQuestion key={question.entry.id} conversation={conversation} question={question} />
      ))}
      <div ref={end} />
    </div>
  );
}

function Welcome({ workspace }) {
  return (
    <div class="welcome">
      <h2>An agent in this tab</h2>
      <p>
        The loop is a WebAssembly state machine, its file tools are a sandboxed WebAssembly component, the project
        is {workspace.hasBookshop ? 'a small bookshop in this browser' : <>the directory {workspace.name} on your disk</>}. There is no
        server behind it.
      </p>
    </div>
  );
}

/** @param {{ item: object, isAsked: boolean, isNew: boolean }} props `isAsked`: its question stands below */
function Item({ item, isAsked, isNew }) {
  switch (item.type) {
    case 'prompt':
      return <p class="prompt"><span class="visually-hidden">You: </span>{item.text}</p>;
    case 'text':
      return (
        <div class={item.isCutOff ? 'text cut-off' : 'text'}>
          <Markdown text={item.text} />
          {item.isCutOff && <p class="faint">cut off here, and not kept in the session</p>}
        </div>
      );
    case 'thinking':
      return <Thinking text={item.text} />;
    case 'call':
      return <ToolCall call={item} isAsked={isAsked} />;
    case 'note':
      return <p class={`note ${item.tone}`} role={item.tone === 'bad' && isNew ? 'alert' : undefined}>{item.text}</p>;
    case 'end':
      return <End message={item.message} />;
    default:
      return undefined;
  }
}

function Thinking({ text, isOpen = false }) {
  return (
    <details class="thinking" open={isOpen}>
      <summary>Thinking</summary>
      <p>{text}</p>
    </details>
  );
}

function Arriving({ partial: { before, type, text } }) {
  const blocks = [...before, { type, text }].filter((block) => block.text);
  return (
    <div class="arriving" aria-busy="true">
      {blocks.map((block) => (block.type === 'thinking' ? <Thinking text={block.text} /> : <div class="text"><Markdown text={block.text} /></div>))}
    </div>
  );
}

function End({ message: { subtype, num_turns: turns, total_cost_usd: cost, duration_ms: ms } }) {
  const how = subtype === 'success' ? 'done' : 'ended';
  return <p class="end">{how} · {turns} {turns === 1 ? 'turn' : 'turns'} · ${cost.toFixed(4)} in this session · {(ms / 1000).toFixed(1)} s</p>;
}

/** Keeps the end in view, or the beginning of a question that does not fit, unless the person has scrolled away from it. */
function useFollowed(what) {
  const end = useRef();
  const isAtEnd = useRef(true);
  const placedAt = useRef(); // by the page, not by the person
  const follow = () => {
    const scrolling = end.current.closest('.scroll');
    if (!isAtEnd.current) return;
    scrolling.scrollTop = scrolling.scrollHeight;
    const [question] = scrolling.getElementsByClassName('question');
    const hidden = question ? scrolling.getBoundingClientRect().top - question.getBoundingClientRect().top : 0;
    if (hidden > 0) scrolling.scrollTop -= hidden;
    placedAt.current = scrolling.scrollTop;
  };
  useEffect(() => {
    const scrolling = end.current.closest('.scroll');
    const moved = () => {
      const below = scrolling.scrollHeight - scrolling.scrollTop - scrolling.clientHeight;
      isAtEnd.current = below < 80 || scrolling.scrollTop === placedAt.current;
    };
    scrolling.addEventListener('scroll', moved, { passive: true });
    // What stands below grows and shrinks, such as the prompts that are offered.
    const resized = new ResizeObserver(follow);
    resized.observe(scrolling);
    return () => {
      scrolling.removeEventListener('scroll', moved);
      resized.disconnect();
    };
  }, []);
  useEffect(follow, what);
  return end;
}
