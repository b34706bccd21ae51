/**
 * Runs the demonstration in virtual time and hands every message on, byte for byte. The same in Node and in a page:
 * `report(line)` takes the messages, and the last line is `{"ok": …}`.
 *
 * @param {URL} packageUrl where the npm package is
 * @param {object} bundle what the demonstration is made of, with the `options` that the native run has too
 */
export async function runDemo(packageUrl, bundle, report) {
  const load = (file) => import(new URL(file, packageUrl));
  const [windlass, files, testkit, demo] = await Promise.all(
    ['index.js', 'files.js', 'testkit.js', 'demo/demo.js'].map(load),
  );
  const clock = new testkit.VirtualClock();
  const options = { ...bundle.options, seed: Uint8Array.from(bundle.seed) };
  const { agent, model, project } = await demo.demoAgent({ windlass, files, testkit, bundle, clock, options });
  const started = performance.now();
  for await (const line of agent.query(bundle.prompt).lines()) report(line);
  model.verify();
  const content = Object.fromEntries(project.paths().map((path) => [path, project.readText(path)]));
  return { ok: true, files: content, ms: Math.round(performance.now() - started) };
}
