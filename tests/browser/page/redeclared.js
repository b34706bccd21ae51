/** Components whose declarations name servers of a test: those listen on free ports. */
import { load } from '../package-under-test.js';

const { leb128, sections } = await load('wasm-binary.js');
const { declarationOf } = await load('declaration.js');

const SECTION = 'windlass:plugin';

/**
 * @param {Buffer} component
 * @param {(declaration: object) => object} change
 * @returns {Buffer} the component with another declaration
 */
export function redeclared(component, change) {
  const own = [...sections(component)].find(({ id, start }) => {
    if (id !== 0) return false;
    const [length, from] = leb128(component, start);
    return component.subarray(from, from + length).toString() === SECTION;
  });
  const content = Buffer.concat([text(SECTION), Buffer.from(JSON.stringify(change(declarationOf(component))))]);
  const section = Buffer.concat([Buffer.of(0), number(content.length), content]);
  return Buffer.concat([component.subarray(0, own.at), section, component.subarray(own.end)]);
}

function text(written) {
  return Buffer.concat([number(Buffer.byteLength(written)), Buffer.from(written)]);
}

function number(value) {
  return value < 0x80 ? Buffer.of(value) : Buffer.concat([Buffer.of((value & 0x7f) | 0x80), number(value >>> 7)]);
}
