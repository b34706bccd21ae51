/** Chromium: `$WINDLASS_CHROMIUM`, else the first one on `PATH`. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** With what it is started. */
export function launching() {
  const executablePath = process.env.WINDLASS_CHROMIUM ?? onPath();
  if (!executablePath) throw new Error('no Chromium on PATH: run `cargo xtask setup`, or name one in $WINDLASS_CHROMIUM');
  return { executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] };
}

export function launch() {
  return chromium.launch(launching());
}

function onPath() {
  const files = (process.env.PATH ?? '').split(delimiter).flatMap((directory) => NAMES.map((name) => join(directory, name)));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
