/** What checks of the test kit expect, without a framework of tests: they run in pages, too. */

/** Throws unless two values are the same as JSON. */
export function same(actual, expected, what) {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what} is ${shortened(is)} and not ${shortened(should)}`);
}

/** Throws unless a promise is rejected, with an error of this kind if one is given. */
export async function rejected(promise, what, kind) {
  let error;
  try {
    await promise;
  } catch (thrown) {
    error = thrown;
  }
  if (!error) throw new Error(`${what} does not reject`);
  if (kind && error.kind !== kind) throw new Error(`${what} rejects with the kind ${error.kind} and not ${kind}: ${error.message}`);
}

function shortened(json) {
  return json?.length > 300 ? `${json.slice(0, 300)}…` : json;
}
