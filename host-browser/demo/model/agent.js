/** The agent of a session: made of what the person has set, chosen, dropped and added. */
import { Agent } from 'windlass';
import { explained } from './failures.js';
import { testsStay } from './hook.js';
import { modelOptions } from './models.js';
import { shell } from './shell.js';

/**
 * @param {object} parts those of the conversation
 * @param {object} session
 * @param {object} session.going which session goes on
 * @param {Function} session.ask asks the person whether a call may run, as `canUseTool`
 * @param {(call: object) => void} session.allowed learns why a call may run, as `onAllowed`
 * @param {(entry: object) => void} session.record takes what belongs in the journal
 */
export async function agentOf({ settings, workspaces, components, servers, sessionStore, bundle, fast }, { going, ask, allowed, record }) {
  const workspace = workspaces.current;
  const { mode, rules } = settings.permissionsOn(workspace.id);
  // Nobody waits for them before there is something to do.
  const [{ fileTools }, tools] = await Promise.all([
    import('windlass/files'),
    settings.hasShell ? shell(workspace, bundle.bash).then((bash) => [bash]) : [],
  ]);
  return new Agent({
    ...(await modelOptions(settings, { workspace, fast })),
    ...going,
    sessionStore,
    cwd: workspace.cwd,
    files: workspace.files,
    // One that the page has to ask for again has another agent then.
    settingSources: workspace.isClosed ? [] : undefined,
    plugins: [await fileTools(), ...components.plugins],
    tools,
    mcpServers: await servers.forAgent(),
    hooks: settings.protectsTests ? testsStay(workspace.cwd) : {},
    allowedTools: rules,
    permissionMode: mode,
    freeWorkspaceReads: true,
    canUseTool: ask,
    includePartialMessages: true,
    onAllowed: allowed,
    pluginSecret: components.secret,
    pluginLog: (plugin, level, text) => record({ kind: 'log', plugin, level, text }),
    onWarning: (text) => record({ kind: 'failure', text: explained(text, settings) }),
  });
}

/** What an agent depends on, as one text: when it differs, the next prompt needs a new agent. */
export function fingerprintOf({ settings, workspaces, components, servers }) {
  const { id, isClosed } = workspaces.current;
  return [settings.fingerprint, id, isClosed, components.fingerprint, servers.fingerprint].join(' ');
}
