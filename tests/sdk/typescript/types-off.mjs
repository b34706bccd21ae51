// Lets Node run the programs as they are written: TypeScript's own compiler takes the types out. Whether they are
// right is a test of its own.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const { default: ts } = await import("typescript");
  const { outputText } = ts.transpileModule(readFileSync(fileURLToPath(url), "utf8"), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  return { format: "module", source: outputText, shortCircuit: true };
}

// Node loads this module a second time, in the thread that loads the others.
if (isMainThread) register(import.meta.url);
