/** Questions to a person about calls. They are kept, so that the answer may come after the object that asked was evicted. */

/** Before the ids of calls, in the keys of the storage; no key of the sessions begins with it. */
const PREFIX = 'windlass-question\n';

/** What is still open of a session: with the call that waits for it, or without, if the object that asked is gone. */
export class Questions {
  #storage;
  #timeoutMs;
  /** What lets calls go on, by their ids. */
  #waiting = new Map();
  /** The answer to a question whose call is gone: it is for the same call, made once more. */
  #answered;

  /**
   * @param {object} storage `ctx.storage`
   * @param {number} [timeoutMs] after which a question is denied
   */
  constructor(storage, timeoutMs) {
    this.#storage = storage;
    this.#timeoutMs = timeoutMs;
  }

  /** Asks by `emit`, and waits for the answer. */
  async ask(question, signal, emit) {
    const answered = this.#takeAnswerFor(question);
    if (answered) return answered;
    const { toolUseID } = question;
    const answer = new Promise((resolve) => this.#waiting.set(toolUseID, resolve));
    signal.addEventListener('abort', () => this.#forget(toolUseID), { once: true });
    const deadline = this.#timeoutMs && Date.now() + this.#timeoutMs;
    await this.#storage.put(PREFIX + toolUseID, { question, deadline });
    if (deadline) await this.#setAlarm();
    await emit(question);
    return answer;
  }

  /** The questions that are open. */
  async open() {
    return (await this.#kept()).map(({ question }) => question);
  }

  /**
   * Answers a question.
   *
   * @returns what was asked, and whether the call went on; `undefined` if there is no such question
   */
  async answer(toolUseID, decision) {
    const kept = await this.#storage.get(PREFIX + toolUseID);
    if (!kept) return undefined;
    const goesOn = this.#waiting.get(toolUseID);
    await this.#forget(toolUseID);
    if (goesOn) goesOn(decision);
    else this.#answered = { question: kept.question, decision };
    return { question: kept.question, isGone: !goesOn };
  }

  /** Denies what nobody answered in time; for the alarm of the object. */
  async expire() {
    const now = Date.now();
    for (const { question, deadline } of await this.#kept()) {
      if (!deadline || deadline > now) continue;
      this.#waiting.get(question.toolUseID)?.({ behavior: 'deny', message: 'nobody answered the question about this call in time' });
      await this.#forget(question.toolUseID);
    }
    await this.#setAlarm();
  }

  /** Forgets questions whose calls are gone: another prompt goes on without them. */
  async forgetGone() {
    this.#answered = undefined;
    for (const { question } of await this.#kept()) {
      if (!this.#waiting.has(question.toolUseID)) await this.#forget(question.toolUseID);
    }
  }

  /** The answer that was given for this call before it was made once more. Another call is another question. */
  #takeAnswerFor({ toolName, input }) {
    const asked = this.#answered?.question;
    if (!asked || asked.toolName !== toolName || canonical(asked.input) !== canonical(input)) return undefined;
    const { decision } = this.#answered;
    this.#answered = undefined;
    return decision;
  }

  async #kept() {
    return [...(await this.#storage.list({ prefix: PREFIX })).values()];
  }

  async #forget(toolUseID) {
    this.#waiting.delete(toolUseID);
    await this.#storage.delete(PREFIX + toolUseID);
  }

  async #setAlarm() {
    const deadlines = (await this.#kept()).flatMap(({ deadline }) => deadline ?? []);
    if (deadlines.length > 0) await this.#storage.setAlarm(Math.min(...deadlines));
  }
}

/** What is told to the model when a question is answered whose call is gone. */
export function promptOf({ toolName }, decision) {
  if (decision.behavior === 'deny') {
    return `The call of ${toolName} that was waiting for permission did not run, and the person has denied it now: ${decision.message}`;
  }
  return `The call of ${toolName} that was waiting for permission did not run. The person has allowed it now: make the same call once more.`;
}

/** JSON whose fields have one order. */
function canonical(value) {
  return JSON.stringify(value, (_, part) => {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
