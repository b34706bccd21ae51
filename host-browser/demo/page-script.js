/**
 * The script of the page's model. The native demonstration is one conversation, and its script knows what comes when; on the page a
 * person asks what they like, as often as they like, and goes on with sessions of yesterday. So each answer of the page's script
 * depends on the last message alone, and can be given any number of times.
 */

/** How often an answer can be given: more often than anybody asks in one tab. */
const OFTEN = 10_000;

/** What the person says to go on with an answer that was cut off; the scripted model begins anew then. */
export const GO_ON = 'Go on where you were interrupted.';

/**
 * @param {object} demonstration the script of the native demonstration
 * @param {{ before: object[], after: object[] }} scenarios what only the page has; `before` comes first, `after` is asked when
 *   nothing else fits
 */
export function scriptOfThePage(demonstration, { before, after }) {
  const told = demonstration.exchanges.map(alone);
  const [begins] = told;
  const goesOn = { ...begins, name: 'goes on', expect: { ...begins.expect, last_user_contains: GO_ON } };
  return {
    description: 'What the model of the page says.',
    model: demonstration.model,
    match: 'any',
    variables: { cwd: null },
    exchanges: [...before, ...told, goesOn, ...after].map((exchange) => ({ repeat: OFTEN, ...exchange })),
  };
}

/** An exchange that does not count what came before it. */
function alone({ expect: { messages: _count, headers: _headers, tool_results: results, ...expect }, ...exchange }) {
  const named = results?.map(({ id: _id, ...result }) => result);
  return { ...exchange, expect: named ? { ...expect, tool_results: named } : expect };
}
