// Bytes that no compression makes fewer, the same each time.

export function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let seed = 1;
  for (let at = 0; at < length; at += 1) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    bytes[at] = seed & 0xff;
  }
  return bytes;
}
