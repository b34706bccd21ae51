/** Tabs, as the ARIA Authoring Practices have them: arrow keys go from one to the next. */
import { useRef } from 'preact/hooks';

/** @param {{ label: string, tabs: [string, string][], chosen: string, choose: (tab: string) => void }} props tabs: names and texts */
export function Tabs({ label, tabs, chosen, choose }) {
  const list = useRef();
  const pressed = (event) => {
    const shown = [...list.current.querySelectorAll('[role=tab]')].filter((tab) => tab.offsetParent !== null);
    const at = shown.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = shown.at(to % shown.length);
    next.focus();
    choose(next.dataset.tab);
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={pressed}>
      {tabs.map(([name, text]) => (
        <button
          id={`tab-${name}`}
          role="tab"
          data-tab={name}
          aria-selected={name === chosen}
          aria-controls={name === chosen ? panelOf(name) : undefined}
          tabindex={name === chosen ? 0 : -1}
          onClick={() => choose(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

/** The element that a tab shows. */
export function panelOf(tab) {
  return tab === 'chat' ? 'conversation' : 'panel';
}
