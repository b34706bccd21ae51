/** Whether the page is narrower than so many pixels. */
import { useEffect, useState } from 'preact/hooks';

export function useWidth(pixels) {
  const query = `(max-width: ${pixels - 1}px)`;
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = () => setIsNarrow(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, [query]);
  return isNarrow;
}
