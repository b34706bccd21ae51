/** What the demonstration is made of, as one value: the project, the script and the recorded answers. */
import { readFile, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The files are dated a minute apart, as the native demonstration dates them: Glob lists by time. */
const FIRST = Date.UTC(2026, 0, 5, 9);
const MINUTE = 60_000;

/** @param {string} demo the folder `host-native/demo` */
export async function bundleOf(demo) {
  const text = (name) => readFile(join(demo, name), 'utf8');
  const project = join(demo, 'project');
  const entries = await readdir(project, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => relative(project, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
  const files = await Promise.all(
    paths.map(async (path, index) => ({
      path,
      text: await text(`project/${path}`),
      modified: FIRST + index * MINUTE,
    })),
  );
  return {
    cwd: '/shop',
    prompt: 'Fix the failing tests',
    script: await text('script.json'),
    bash: JSON.parse(await text('bash.json')),
    files,
  };
}
