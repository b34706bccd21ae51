/** What a component has to wait for. */
import { useEffect, useState } from 'preact/hooks';

/**
 * What comes of a function, which is asked anew when something that it depends on has changed; until then there is what came before.
 *
 * @param {() => Promise<any>} load
 * @param {any[]} depends
 * @returns {{ value?: any, problem?: string }} nothing at first
 */
export function useLoaded(load, depends) {
  const [loaded, setLoaded] = useState({});
  useEffect(() => {
    let isOld = false;
    const take = (found) => !isOld && setLoaded(found);
    load().then((value) => take({ value }), (error) => take({ problem: error.message }));
    return () => {
      isOld = true;
    };
  }, depends);
  return loaded;
}
