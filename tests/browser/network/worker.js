/** The probe of requests in workerd: runs what it is sent. */
import module from 'windlass_browser_bg.wasm';
import testkitModule from 'windlass_browser_testkit_bg.wasm';
import * as windlass from './index.js';
import { instantiate } from './probe.js';
import { runProbe } from './run-probe.js';
import * as testkit from './testkit.js';

export default {
  async fetch(request) {
    const { inputs, options } = await request.json();
    await windlass.init(module);
    await testkit.initTestkit(testkitModule);
    const plugin = (declaration, grant) => new windlass.Plugin(declaration, instantiate, undefined, grant);
    return Response.json(await runProbe({ windlass, testkit, plugin }, inputs, options));
  },
};
