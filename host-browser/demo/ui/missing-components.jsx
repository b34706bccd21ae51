/** Where the conversation goes on: that it does so without components that it had before the page was loaded anew. */
export function MissingComponents({ components: { missing } }) {
  if (missing.length === 0) return null;
  const names = missing.map(({ name }) => name).join(' and ');
  return (
    <p class="note offer">
      The page was loaded anew, and the agent does without <strong>{names}</strong> until you drop {missing.length > 1 ? 'them' : 'it'} again
      under <em>Components</em>.
    </p>
  );
}
