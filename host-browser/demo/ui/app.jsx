/** The page: the conversation, and beside it (on a phone: instead of it) one of the panels. */
import { useEffect, useState } from 'preact/hooks';
import { RECORDED } from '../model/shell.js';
import { Chat } from './chat.jsx';
import { ComponentsPanel } from './components-panel.jsx';
import { Composer } from './composer.jsx';
import { FilesPanel } from './files-panel.jsx';
import { Meter } from './meter.jsx';
import { MissingComponents } from './missing-components.jsx';
import { ClosedDirectory } from './closed-directory.jsx';
import { ServersPanel } from './servers-panel.jsx';
import { SessionsPanel } from './sessions-panel.jsx';
import { SettingsPanel } from './settings-panel.jsx';
import { Tabs } from './tabs.jsx';
import { ThemeChoice } from './theme.jsx';
import { TimelinePanel } from './timeline-panel.jsx';
import { useChanges } from './use-changes.js';
import { useWidth } from './use-width.js';

const PANELS = [
  ['sessions', 'Sessions'],
  ['files', 'Files'],
  ['timeline', 'Timeline'],
  ['components', 'Components'],
  ['servers', 'MCP'],
  ['settings', 'Settings'],
];

export function App(parts) {
  const { conversation, settings } = parts;
  useChanges(conversation, settings, parts.components, parts.workspaces);
  const isNarrow = useWidth(900);
  const [panel, setPanel] = useState('files');
  const [isChat, setIsChat] = useState(true);
  const [moment, setMoment] = useState();
  const { entries, questions, id } = conversation;
  // Another session has other steps.
  useEffect(() => setMoment(undefined), [id]);
  // A question is not to be missed.
  useEffect(() => {
    if (questions.length > 0) {
      setIsChat(true);
      setMoment(undefined);
    }
  }, [questions.length]);
  const showsChat = !isNarrow || isChat;
  const showsPanel = !isNarrow || !isChat;
  const choose = (tab) => {
    setIsChat(tab === 'chat');
    if (tab !== 'chat') setPanel(tab);
  };
  return (
    <>
      <header>
        <h1>windlass</h1>
        <p class="model">{settings.model === 'scripted' ? 'scripted model' : settings.modelName}</p>
        <Meter entries={entries} isRunning={conversation.isRunning} />
        <ThemeChoice settings={settings} />
      </header>
      <main class={isNarrow ? 'narrow' : 'wide'}>
        {isNarrow && <PanelTabs chosen={isChat ? 'chat' : panel} choose={choose} withChat />}
        {showsChat && (
          <section id="conversation" role={isNarrow ? 'tabpanel' : undefined} aria-labelledby={isNarrow ? 'tab-chat' : 'conversation-title'}>
            <ConversationArea {...parts} moment={moment} setMoment={setMoment} />
          </section>
        )}
        {showsPanel && (
          <div class="side">
            {!isNarrow && <PanelTabs chosen={panel} choose={choose} />}
            <section id="panel" class="scroll" role="tabpanel" aria-labelledby={`tab-${panel}`} tabindex={0}>
              <Panel {...parts} panel={panel} moment={moment} setMoment={setMoment} />
            </section>
          </div>
        )}
      </main>
      <p class="visually-hidden" role="status">{announced(conversation)}</p>
    </>
  );
}

function PanelTabs({ chosen, choose, withChat = false }) {
  const tabs = withChat ? [['chat', 'Chat'], ...PANELS] : PANELS;
  return <Tabs label="Parts of the page" tabs={tabs} chosen={chosen} choose={choose} />;
}

function ConversationArea({ conversation, settings, components, workspaces, moment, setMoment }) {
  const { entries, problem } = conversation;
  const workspace = workspaces.current;
  const isScripted = settings.model === 'scripted';
  return (
    <>
      <h2 id="conversation-title" class="visually-hidden">Conversation</h2>
      {isScripted && <Scripted hasShell={settings.hasShell} workspace={workspace} />}
      <div class="scroll" tabindex={0} role="region" aria-label="What was said">
        <Chat
          conversation={conversation}
          workspace={workspace}
          entries={moment === undefined ? entries : entries.slice(0, moment)}
          isPast={moment !== undefined}
        />
      </div>
      <MissingComponents components={components} />
      {problem && <Problem conversation={conversation} problem={problem} />}
      {!problem && workspace.isClosed && <ClosedDirectory workspace={workspace} />}
      {!problem && !workspace.isClosed && conversation.isCutOff && (
        <p class="note offer">
          {entries.at(-1).kind === 'opened' ? 'You forked in the middle of this answer.' : 'The tab was closed in the middle of this answer.'}{' '}
          What was complete is there.{' '}
          <button onClick={() => conversation.goOn()}>Go on</button>
        </p>
      )}
      {moment === undefined ? (
        // What runs can be stopped, whatever is taken back meanwhile.
        !problem && (!workspace.isClosed || conversation.isRunning) && (
          <Composer conversation={conversation} offered={isScripted ? offered(workspace, settings, components) : []} />
        )
      ) : (
        <p class="note offer">
          You see step {moment} of {entries.length}. <button class="primary" onClick={() => setMoment(undefined)}>Back to now</button>
        </p>
      )}
    </>
  );
}

/** What is not real here; everything else is. */
function Scripted({ hasShell, workspace }) {
  return (
    <p class="scripted">
      The model follows a <strong>script</strong>
      {workspace.hasBookshop ? (
        hasShell && (
          <>
            , and <code>{RECORDED}</code> repeats <strong>recorded</strong> answers in Bash, which is a shell without network and
            programs (just-bash)
          </>
        )
      ) : (
        <>, which knows the bookshop and not these files: choose a model under <em>Settings</em></>
      )}
      . Everything else really runs, in this tab.
    </p>
  );
}

function Problem({ conversation, problem }) {
  return (
    <div class="note bad offer" role="alert">
      <p>{problem}</p>
      <p class="row">
        {conversation.id && <button onClick={() => conversation.fork(conversation.id)}>Go on in a fork</button>}
        {conversation.id && <button onClick={() => conversation.open(conversation.id)}>Try again</button>}
        <button onClick={() => conversation.begin()}>New session</button>
      </p>
    </div>
  );
}

function Panel({ panel, moment, setMoment, ...parts }) {
  const { conversation, settings, workspaces, components, servers } = parts;
  const title = panel === 'servers' ? 'MCP servers' : PANELS.find(([name]) => name === panel)[1];
  return (
    <>
      <h2>{title}</h2>
      {panel === 'sessions' && (
        <SessionsPanel conversation={conversation} list={parts.listSessions} remove={parts.removeSession} unkept={parts.unkept} />
      )}
      {panel === 'files' && <FilesPanel key={workspaces.current.id} conversation={conversation} workspaces={workspaces} />}
      {panel === 'timeline' && <TimelinePanel conversation={conversation} moment={moment} setMoment={setMoment} />}
      {panel === 'components' && <ComponentsPanel conversation={conversation} components={components} workspace={workspaces.current} />}
      {panel === 'servers' && <ServersPanel conversation={conversation} servers={servers} />}
      {panel === 'settings' && <SettingsPanel settings={settings} workspace={workspaces.current} keptPage={parts.keptPage} />}
    </>
  );
}

/** The prompts that the script knows and that make sense now. */
function offered({ hasBookshop }, { hasShell }, { loaded }) {
  const hasWords = loaded.some(({ declaration }) => declaration.tools?.some(({ name }) => name === 'CountWords'));
  return [
    ...(hasBookshop && hasShell ? ['Fix the failing tests'] : []),
    ...(hasBookshop ? ['Change the test instead'] : []),
    'Write a changelog',
    ...(hasShell ? ['Look around with the shell'] : []),
    'Stop in the middle',
    'Answer although the server is overloaded',
    ...(hasWords ? ['Count the words of the README'] : []),
  ];
}

/** For those who do not see the page: what has come to an end, or waits. */
function announced({ questions, isRunning, entries }) {
  if (questions.length > 0) return `A question waits: may ${questions[0].entry.tool} run?`;
  if (isRunning) return 'The agent works.';
  return entries.at(-1)?.message?.type === 'result' ? 'The answer is complete.' : '';
}
