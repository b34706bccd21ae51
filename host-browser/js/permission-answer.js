/** What `canUseTool` answers. */
import { meant } from './near-name.js';
import { shown } from './option-values.js';

const WANTED = "`{ behavior: 'allow' }`, with `updatedInput` for another input, or `{ behavior: 'deny', message: 'why' }`";

/** The fields of each answer; others, of which the TypeScript Agent SDK has some, are passed over. */
const FIELDS = { allow: ['updatedInput', 'updatedPermissions'], deny: ['message', 'interrupt'] };

/**
 * What is wrong with an answer, a sentence each, for whoever wrote it: the model reads no more than that its call was denied.
 *
 * @param {any} answer
 */
export function wrongDecision(answer) {
  if (!['allow', 'deny'].includes(answer?.behavior)) {
    const given = answer?.behavior === undefined ? shown(answer) : `the behavior ${shown(answer.behavior)}`;
    return [`it gave ${given}, so that the call was denied: an answer is ${WANTED}`];
  }
  const { behavior, message, interrupt = false, updatedPermissions = [] } = answer;
  if (behavior === 'deny' && typeof message !== 'string') {
    return [`it denied the call without a \`message\`, a text that the model reads: an answer is ${WANTED}`];
  }
  if (behavior === 'deny' && typeof interrupt !== 'boolean') return [`\`interrupt\` is true or false, not ${shown(interrupt)}`];
  if (behavior === 'allow' && !Array.isArray(updatedPermissions ?? [])) {
    return [`\`updatedPermissions\` is a list, not ${shown(updatedPermissions)}, and changed nothing`];
  }
  const hints = Object.keys(answer).filter((field) => field !== 'behavior' && !FIELDS[behavior].includes(field));
  const near = hints.map((field) => [field, meant(field, FIELDS[behavior])]).filter(([, hint]) => hint !== '');
  return near.map(([field, hint]) => `\`${field}\` does nothing${hint}`);
}
