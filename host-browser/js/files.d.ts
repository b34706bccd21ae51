import type { Plugin } from './index.js';

/** The built-in file tools: Read, Write, Edit, Glob and Grep. Loaded once; every call runs in a fresh instance. */
export function fileTools(): Promise<Plugin>;
