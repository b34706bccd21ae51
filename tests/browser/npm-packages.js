/**
 * Lets the package under test find what it takes from npm, as it would beside them in an application: import this before it.
 * What cannot be found from where the package was built is looked for from here.
 */
import { register } from 'node:module';

const here = JSON.stringify(import.meta.url);
const hooks = `
export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || /^[./]|:/.test(specifier)) throw error;
    return next(specifier, { ...context, parentURL: ${here} });
  }
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
