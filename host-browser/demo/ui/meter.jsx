/** What the session has cost: money, tokens, and how much of the input came from the cache. */
import { useMemo } from 'preact/hooks';
import { replay } from '../model/journal.js';

/** @param {{ entries: object[], isRunning: boolean }} props what an answer costs is known at its end */
export function Meter({ entries, isRunning }) {
  const { usage, cost } = useMemo(() => replay(entries), [entries]);
  const read = usage.input + usage.cacheWrite + usage.cacheRead;
  const hits = read === 0 ? 0 : Math.round((100 * usage.cacheRead) / read);
  const number = (value) => value.toLocaleString('en');
  return (
    <dl class="meter" aria-label="Cost of this session">
      <div><dt>Cost</dt><dd>{isRunning && '≥ '}${cost.toFixed(4)}</dd></div>
      <div><dt>Tokens in</dt><dd>{number(read)}</dd></div>
      <div><dt>out</dt><dd>{number(usage.output)}</dd></div>
      <div class="cache">
        <dt id="cache-hits">From cache</dt>
        <dd><meter min={0} max={100} value={hits} aria-labelledby="cache-hits">{hits} %</meter> {hits} %</dd>
      </div>
    </dl>
  );
}
