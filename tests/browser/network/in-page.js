/** The probe of requests in a Worker of a page. */
import * as windlass from '/package/index.js';
import * as testkit from '/package/testkit.js';
import { WorkerPlugin } from '/package/worker-plugin.js';
import { runProbe } from './run-probe.js';

export function probe(inputs, options) {
  const plugin = (declaration, grant) => new WorkerPlugin(declaration, '/tests/network/probe.js', grant);
  return runProbe({ windlass, testkit, plugin }, inputs, options);
}
