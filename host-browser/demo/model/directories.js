/** The workspaces whose files a browser hands out as a directory; the page loads them together, when one of them is chosen. */
export { BrowserStorage } from './browser-storage.js';
export { PickedDirectory } from './picked-directory.js';
