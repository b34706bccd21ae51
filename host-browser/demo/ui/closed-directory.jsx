/** A directory that the page had and has to ask for again: browsers want that after the page was loaded anew. */
import { useState } from 'preact/hooks';

export function ClosedDirectory({ workspace }) {
  const [problem, setProblem] = useState();
  const refused =
    `The browser did not let the page have ${workspace.name}: you said no, or it does not ask any more, which the settings of the site ` +
    'beside its address change.';
  const allow = () => workspace.allow().then(
    () => setProblem(undefined),
    (error) => setProblem(error.kind === 'not-allowed' ? refused : error.message),
  );
  return (
    <div class="note offer">
      <p>
        The agent works on <code>{workspace.name}</code> on your disk here. The browser asks you again before the page has it; under
        Files you can choose another workspace.
      </p>
      <p><button class="primary" onClick={allow}>Let the page have {workspace.name}</button></p>
      {problem && <p class="bad" role="alert">{problem}</p>}
    </div>
  );
}
