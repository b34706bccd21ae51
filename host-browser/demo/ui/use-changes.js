/** Draws a component again when something has changed, once a frame. */
import { useEffect, useState } from 'preact/hooks';

/** @param {...EventTarget} sources what tells of its changes */
export function useChanges(...sources) {
  const [, setCount] = useState(0);
  useEffect(() => {
    let waits = false;
    let isGone = false;
    const draw = () => {
      waits = false;
      if (!isGone) setCount((count) => count + 1);
    };
    const changed = () => {
      if (waits) return;
      waits = true;
      // Nothing is drawn in a tab that nobody sees, and there are no frames.
      if (document.hidden) setTimeout(draw);
      else requestAnimationFrame(draw);
    };
    for (const source of sources) source.addEventListener('change', changed);
    // What changed between drawing and listening.
    changed();
    return () => {
      isGone = true;
      for (const source of sources) source.removeEventListener('change', changed);
    };
  }, sources);
}
