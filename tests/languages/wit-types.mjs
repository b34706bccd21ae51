// Prints the TypeScript types of the interfaces: `plugins/js/windlass-wit.d.ts` is this output, and a test compares.
//
//     node wit-types.mjs FOLDER_OF_WIT > plugins/js/windlass-wit.d.ts

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [wit, packages = import.meta.dirname] = process.argv.slice(2);
// From where the packages are installed, which is not where this file is.
const jco = join(packages, "node_modules/@bytecodealliance/jco-transpile/vendor/js-component-bindgen-component.js");
const { $init, generateTypes } = await import(pathToFileURL(jco).href);
await $init;

const read = (file) => readFileSync(join(wit, file), "utf8");
const host = read("host/host.wit");
const inside = host.replace(/^package (.*);$/m, "");
const [, name] = host.match(/^package (.*);$/m);
const source = `${read("plugin/plugin.wit")}\n${read("plugin/hooks.wit")}\npackage ${name} {\n${inside}\n}\n`;

const options = { wit: { tag: "source", val: source }, world: "authored", guest: true };
const files = generateTypes("plugin", options)
  .map(([file, bytes]) => [file, new TextDecoder().decode(bytes)])
  .filter(([file]) => file.startsWith("interfaces/"))
  .sort(([a], [b]) => (a < b ? -1 : 1));
const texts = files.map(([, text]) =>
  text
    .replace(/^\/\/\/ <reference .*\n/gm, "")
    // A pattern would end the comment that it is in.
    .replaceAll("**/.", "**\\/.")
    .replace(/[ \t]+$/gm, "")
    .trim(),
);
process.stdout.write(`// The interfaces of \`wit/\`, as componentize-qjs has them. Made by jco (tests/languages/wit-types.mjs); do not edit.\n\n${texts.join("\n\n")}\n`);
