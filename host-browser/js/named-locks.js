/** Locks by name among all tabs of the origin, or among those who are in this program where there are no Web Locks. */

/** The work that is to be done last under each name. */
const last = new Map();

/** Does work when all work that began earlier under the name is done. */
export async function locked(name, work) {
  if (globalThis.navigator?.locks) return navigator.locks.request(name, work);
  const done = (last.get(name) ?? Promise.resolve()).then(work);
  const settled = done.catch(() => {});
  last.set(name, settled);
  try {
    return await done;
  } finally {
    if (last.get(name) === settled) last.delete(name);
  }
}
