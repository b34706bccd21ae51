/** Questions to a person about calls. They are kept, so that the answer may come after the object that asked was evicted. */

/** Before the ids of calls, in the keys of the storage; no key of the sessions begins with it. */
const PREFIX = 'windlass-question\n';

/** What a call gets to which nobody answered. */
const LATE = { behavior: 'deny', message: 'nobody answered the question about this call in time' };

/** What a call gets that does not wait any more; nobody reads it. */
const CANCELLED = { behavior: 'deny', message: 'the call was stopped' };

/** After how many milliseconds an answer that no call has taken is looked at again: the object that was about to may be gone. */
const AGAIN_MS = 60_000;

/** What is still open of a session: with the call that waits for it, or without, if the object that asked is gone. */
export class Questions {
  #storage;
  #timeoutMs;
  /** What lets calls go on, by their ids. */
  #waiting = new Map();

  /**
   * @param {object} storage `ctx.storage`
   * @param {number} [timeoutMs] after which a question is denied
   */
  constructor(storage, timeoutMs) {
    this.#storage = storage;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks by `emit`, and waits for the answer, unless it was given before the call was judged once more.
   *
   * @param {object} question
   * @param {AbortSignal} signal
   * @param {(question: object) => Promise<void>} emit
   * @param {string} address of the session, which goes on when the time is over
   */
  async ask(question, signal, emit, address) {
    const { toolUseID } = question;
    const answer = new Promise((resolve) => this.#waiting.set(toolUseID, resolve));
    const kept = await this.#storage.get(PREFIX + toolUseID);
    if (kept?.decision) {
      await this.#forget(toolUseID);
      return kept.decision;
    }
    if (!this.#waiting.has(toolUseID)) return answer; // it has come meanwhile
    signal.addEventListener('abort', () => this.#forget(toolUseID), { once: true });
    const deadline = kept?.deadline ?? (this.#timeoutMs && Date.now() + this.#timeoutMs);
    await this.#storage.put(PREFIX + toolUseID, { question, deadline, address });
    if (deadline) await this.#setAlarm();
    if (signal.aborted) {
      // While it was being kept, or before.
      await this.#forget(toolUseID);
      return CANCELLED;
    }
    await emit(question);
    return answer;
  }

  /** Whether calls wait for answers. */
  areWaiting() {
    return this.#waiting.size > 0;
  }

  /** Whether there is a question about this call. */
  async has(toolUseID) {
    return (await this.#storage.get(PREFIX + toolUseID)) !== undefined;
  }

  /** Whether an answer is there that no call has taken yet. */
  async isDecided(toolUseID) {
    return (await this.#storage.get(PREFIX + toolUseID))?.decision !== undefined;
  }

  /** The questions that are open. */
  async open() {
    return (await this.#kept()).map(({ question }) => question);
  }

  /**
   * Answers a question. The answer for a call that does not wait any more is kept until the call is judged once more: it could get
   * lost otherwise with the object that received it.
   *
   * @param {string} toolUseID
   * @param {object} decision
   * @param {() => void} [before] called before a call that waits goes on with it
   * @returns whether a call waited for it; `undefined` if there is no such question
   */
  async answer(toolUseID, decision, before = () => {}) {
    const goesOn = this.#waiting.get(toolUseID);
    if (goesOn) {
      await this.#forget(toolUseID); // at once: nobody answers it twice
      before();
      goesOn(decision);
      return { isGone: false };
    }
    const kept = await this.#storage.get(PREFIX + toolUseID);
    if (!kept) return undefined;
    await this.#storage.put(PREFIX + toolUseID, { ...kept, decision });
    return { isGone: true };
  }

  /**
   * Denies what nobody answered in time; for the alarm of the object.
   *
   * @returns the address of the session, if it has to go on because the call does not wait for the answer any more
   */
  async expire() {
    const now = Date.now();
    let gone;
    for (const { question, decision, deadline, address } of await this.#kept()) {
      if (!deadline || deadline > now) continue;
      const { isGone } = await this.answer(question.toolUseID, decision ?? LATE);
      if (isGone) gone = address;
    }
    await this.#setAlarm();
    return gone;
  }

  /** Forgets questions whose calls are gone: the session has gone on without them. */
  async forgetGone() {
    for (const { question } of await this.#kept()) {
      if (!this.#waiting.has(question.toolUseID)) await this.#forget(question.toolUseID);
    }
  }

  async #kept() {
    return [...(await this.#storage.list({ prefix: PREFIX })).values()];
  }

  async #forget(toolUseID) {
    this.#waiting.delete(toolUseID);
    await this.#storage.delete(PREFIX + toolUseID);
  }

  async #setAlarm() {
    const due = ({ deadline, decision }) => (deadline && decision ? Date.now() + AGAIN_MS : deadline);
    const deadlines = (await this.#kept()).flatMap((kept) => due(kept) ?? []);
    if (deadlines.length > 0) await this.#storage.setAlarm(Math.min(...deadlines));
  }
}
