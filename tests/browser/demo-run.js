/**
 * Runs the demonstration in virtual time and hands every message on, byte for byte. The same in Node, in a page and in workerd:
 * `report(line)` takes the messages, and the last line is `{"ok": …}`.
 *
 * @param {{ windlass: object, files: object, testkit: object, demo: object }} parts modules of the npm package
 * @param {object} bundle what the demonstration is made of, with the `options` that the native run has too
 */
export async function runDemo({ windlass, files, testkit, demo }, bundle, report) {
  const clock = new testkit.VirtualClock();
  const options = { ...bundle.options, seed: Uint8Array.from(bundle.seed) };
  const { agent, model, project } = await demo.demoAgent({ windlass, files, testkit, bundle, clock, options });
  const started = performance.now();
  for await (const line of agent.query(bundle.prompt).lines()) report(line);
  model.verify();
  const content = Object.fromEntries(project.paths().map((path) => [path, project.readText(path)]));
  return { ok: true, files: content, ms: Math.round(performance.now() - started) };
}

/** The modules of the package at an address. */
export async function partsOf(packageUrl) {
  const load = (file) => import(new URL(file, packageUrl));
  const [windlass, files, testkit, demo] = await Promise.all(['index.js', 'files.js', 'testkit.js', 'demo/demo.js'].map(load));
  return { windlass, files, testkit, demo };
}
