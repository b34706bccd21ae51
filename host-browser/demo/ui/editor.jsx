/** An editor for a file that the agent may change at the same time: nobody's text is lost. */
import { useEffect, useState } from 'preact/hooks';

export function Editor({ workspace, path }) {
  /** `{ base, version, draft, newer? }`: what was there, what the person wrote, and what is there by now if it differs. */
  const [opened, setOpened] = useState(() => workspace.drafts.get(path));
  const [problem, setProblem] = useState();
  useEffect(() => {
    let isOld = false;
    workspace.file(path).then(
      (file) => !isOld && setOpened((before) => withFile(before, file)),
      (error) => !isOld && setProblem(error.message),
    );
    return () => {
      isOld = true;
    };
  }, [workspace, path, workspace.revision]);
  useEffect(() => {
    if (opened && opened.draft !== opened.base) workspace.drafts.set(path, opened);
    else workspace.drafts.delete(path);
  }, [opened]);
  if (problem && !opened) return <p class="note bad" role="alert">{problem}</p>;
  if (!opened) return undefined;
  if (opened.unshown) return <p class="note"><code>{path}</code> {opened.unshown}, so it is not shown.</p>;
  const { base, draft, version, newer } = opened;
  const isChanged = draft !== base;
  const save = async () => {
    try {
      await workspace.write(path, draft, newer ? newer.version : version);
      setProblem(undefined);
      // What was typed meanwhile stays.
      setOpened((now) => ({ ...now, base: draft, newer: undefined }));
    } catch (error) {
      // Whoever changed it meanwhile is seen, and told below.
      if (error.kind === 'changed') workspace.refresh();
      else setProblem(error.message);
    }
  };
  const undo = () => setOpened(newer ? withFile(undefined, newer.file) : { ...opened, draft: base });
  const pressed = (event) => {
    if (event.key.toLowerCase() === 's' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
  };
  return (
    <div class="editor">
      <label for="editor"><code>{path}</code>{isChanged && ' (not saved)'}</label>
      <textarea
        id="editor"
        spellcheck={false}
        wrap="off"
        value={draft}
        onInput={({ target }) => setOpened({ ...opened, draft: target.value })}
        onKeyDown={pressed}
      />
      {newer && (
        <p class="note bad" role="alert">
          {newer.file ? 'The agent has changed this file since you opened it.' : 'This file is not there any more.'}
        </p>
      )}
      {problem && <p class="note bad" role="alert">{problem}</p>}
      <div class="row">
        <button class="primary" disabled={!isChanged} onClick={save}>{newer ? 'Save over it' : 'Save'}</button>
        <button disabled={!isChanged} onClick={undo}>{newer ? 'Take the agent’s' : 'Undo all'}</button>
      </div>
    </div>
  );
}

/** The editor when a file was read: what is there by now is taken at once only where the person has written nothing. */
function withFile(before, file) {
  const { text, version = null, unshown } = file ?? { unshown: 'is not there any more' };
  if (before === undefined || before.unshown || before.draft === before.base) return { base: text, draft: text, version, unshown };
  if (text === before.base) return { ...before, version, newer: undefined };
  if (text === before.draft) return { ...before, base: text, version, newer: undefined };
  return { ...before, newer: { file, version } };
}
