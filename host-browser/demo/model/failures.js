/** One message for each thing that can go wrong, which says what to do. */

/** What a person reads of a failure: of an error, or of the errors of a result. */
export function explained(said, settings) {
  if (/API error 401/.test(said)) {
    return `The server refused the key: ${said}. Correct the key under Settings; what was said so far is kept.`;
  }
  if (/cannot reach the model server/.test(said)) {
    const server = settings.model === 'scripted' ? 'the scripted model' : settings.baseUrl;
    return (
      `No answer from ${server}. Either there is no network, or the server does not allow pages of other origins to ask it (CORS; ` +
      'the browser does not tell the page which). Nothing is lost: send the prompt again when it can be reached.'
    );
  }
  if (/broke the connection|interrupted the stream/.test(said)) {
    return 'The connection broke in the middle of the answer, and so did the retries. What was complete is kept: say “Go on”.';
  }
  const [, server] = said.match(/^the MCP server (\S+) is not connected/) ?? [];
  if (server) {
    return `The MCP server ${server} is not connected, so this session goes on without its tools. Why, and what to do, stands under MCP.`;
  }
  if (isBusy(said)) {
    return 'This session is open in another tab, and only one tab can write to it. Close it there, or fork it and go on in the copy.';
  }
  if (/storage .*is full|no room/.test(said)) {
    return 'The browser has no room left for this page: delete sessions that you do not need any more. The answer above was not kept.';
  }
  return said;
}

/** Whether a session cannot be opened because another tab has it. */
export function isBusy(said) {
  return /written by somebody else|open elsewhere/.test(said);
}

/** What a person reads where the Worker of a component was ended; nothing of any other result of a call. */
export function endedExplained(result) {
  const [, name, ms] = result.match(/The component (\S+) did not finish within (\d+) ms and was stopped/) ?? [];
  if (name) {
    return `The component ${name} did not finish within ${ms / 1_000} s, so its Worker was ended. The next call has a new one.`;
  }
  const [, often] = result.match(/The component (\S+) had to be ended \d+ times in a row/) ?? [];
  return often && `The component ${often} did not finish several times in a row, and is not run any more: remove it, or load it anew.`;
}

/** What a person reads of a result that is an error. */
export function endExplained({ subtype, errors = [] }, settings) {
  if (subtype === 'error_max_budget_usd') {
    return `The session has cost more than its budget of $${settings.budget}. Raise it under Settings, and say “Go on”.`;
  }
  return explained(errors.length > 0 ? errors.join('; ') : subtype, settings);
}
