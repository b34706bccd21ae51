/** Which addresses a request of a component may go to where its origin is a name: public ones, as natively. */

/** Blocks of IPv4 that are no public hosts: their first address and how many there are. */
const NOT_PUBLIC = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24',
  '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24',
  '203.0.113.0/24', '224.0.0.0/3',
].map((block) => {
  const [address, bits] = block.split('/');
  return { first: numberOf(address), size: 2 ** (32 - Number(bits)) };
});

/** Whether an address, as a resolver writes it, is one that anybody on the internet reaches. Of one that has another one in it that one counts. */
export function isPublic(address) {
  return address.includes(':') ? isPublicV6(address) : isPublicV4(numberOf(address));
}

/** Whether an address is this machine. */
export function isLoopback(address) {
  return address === '::1' || /^127(\.\d+){3}$/.test(address);
}

function isPublicV4(number) {
  return NOT_PUBLIC.every(({ first, size }) => number < first || number >= first + size);
}

function isPublicV6(address) {
  const parts = partsOf(address);
  if (!parts) return false;
  const [a, b, c, d, e, f, high, low] = parts;
  const carried = (upper, lower) => isPublicV4(upper * 0x10000 + lower);
  const startsWithZeros = [a, b, c, d].every((part) => part === 0);
  // Mapped and compatible addresses, and translated ones (SIIT, NAT64).
  if (startsWithZeros && e === 0 && (f === 0 || f === 0xffff)) return carried(high, low);
  if (startsWithZeros && e === 0xffff && f === 0) return carried(high, low);
  if (a === 0x64 && b === 0xff9b && [c, d, e, f].every((part) => part === 0)) return carried(high, low);
  // 6to4.
  if (a === 0x2002) return carried(b, c);
  // Tunnels, benchmarks, identifiers, documentation.
  if ((a === 0x2001 && (b < 0x200 || b === 0xdb8)) || (a === 0x3fff && b < 0x1000)) return false;
  // All global addresses that are given out are here.
  return a >= 0x2000 && a <= 0x3fff;
}

function numberOf(address) {
  return address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
}

/** The eight parts of an address of IPv6; nothing, if it is none. */
function partsOf(address) {
  const [text] = address.split('%');
  const plain = text.replace(/:(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => {
    const [w, x, y, z] = bytes.map(Number);
    return `:${(w * 256 + x).toString(16)}:${(y * 256 + z).toString(16)}`;
  });
  const [before, after] = plain.split('::').map((side) => side.split(':').filter(Boolean).map((part) => parseInt(part, 16)));
  const between = after ? Array(8 - before.length - after.length).fill(0) : [];
  const parts = [...before, ...between, ...(after ?? [])];
  return parts.length === 8 && parts.every((part) => part >= 0 && part <= 0xffff) ? parts : undefined;
}
