/** The models that one can choose: the script, and any server that speaks the Messages API. */
import { SystemClock } from 'windlass';

/** Retries of a page where a person looks on: fewer than a program's. */
const RETRY = { maxRetries: 3, baseMs: 400 };

/** Options of an agent by which it asks the chosen model. */
export async function modelOptions(settings, { cwd, fast }) {
  if (settings.model === 'scripted') {
    // Loaded by those who ask it.
    const [{ ScriptedModel }, script] = await Promise.all([import('windlass/testkit'), fetch('script.json').then((answer) => answer.text())]);
    const clock = fast ? { ...waiting, sleep: async () => {} } : waiting;
    const { fetch: answer } = await ScriptedModel.load(script, { variables: { cwd }, clock });
    return { fetch: answer, model: settings.modelName, retry: RETRY };
  }
  return {
    baseUrl: settings.baseUrl,
    model: settings.modelName,
    // The key is the visitor's own: they typed it into this tab.
    ...(settings.apiKey ? { apiKey: settings.apiKey, dangerouslyAllowBrowser: true } : {}),
    maxBudgetUsd: settings.budget,
    systemPrompt:
      `You are a coding agent in a web page. The project is in ${cwd}. There is no shell: Bash only repeats what ` +
      '`python3 -m unittest -q` answered once, for the project with its bug and without it.',
    retry: RETRY,
  };
}

const system = new SystemClock();
const waiting = { sleep: (ms, signal) => system.sleep(ms, signal) };
