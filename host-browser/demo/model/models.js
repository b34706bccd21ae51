/** The models that one can choose: the script, and any server that speaks the Messages API. */
import { SystemClock } from 'windlass';
import { RECORDED } from './shell.js';

/** Retries of a page where a person looks on: fewer than a program's. */
const RETRY = { maxRetries: 3, baseMs: 400 };

/**
 * Options of an agent by which it asks the chosen model.
 *
 * @param {import('./settings.js').Settings} settings
 * @param {{ workspace: import('./workspace.js').Workspace, fast: boolean }} how `fast`: the script answers without pauses
 */
export async function modelOptions(settings, { workspace, fast }) {
  if (settings.model === 'scripted') {
    // Loaded by those who ask it.
    const [{ ScriptedModel }, script] = await Promise.all([import('windlass/testkit'), fetch('script.json').then((answer) => answer.text())]);
    const clock = fast ? { ...waiting, sleep: async () => {} } : waiting;
    const { fetch: answer } = await ScriptedModel.load(script, { variables: { cwd: workspace.cwd }, clock });
    return { fetch: answer, model: settings.modelName, retry: RETRY };
  }
  return {
    baseUrl: settings.baseUrl,
    model: settings.modelName,
    // The key is the visitor's own: they typed it into this tab.
    ...(settings.apiKey ? { apiKey: settings.apiKey, dangerouslyAllowBrowser: true } : {}),
    maxBudgetUsd: settings.budget,
    systemPrompt: ['You are a coding agent in a web page.', `The project is in ${workspace.cwd}.`, ...aboutBash(settings, workspace)].join(' '),
    retry: RETRY,
  };
}

function aboutBash({ hasShell }, { hasBookshop, cwd }) {
  if (!hasShell) return ['There is no shell.'];
  const bash = 'Bash is a shell without an operating system: it has no network and starts no programs.';
  if (!hasBookshop) return [bash];
  return [bash, `Of Python there is only \`${RECORDED}\` in ${cwd}, which repeats what it answered for the project with and without its bug.`];
}

const system = new SystemClock();
const waiting = { sleep: (ms, signal) => system.sleep(ms, signal) };
