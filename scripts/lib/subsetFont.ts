// Takes out of a TrueType font what no text of ours uses: outlines, places in the map of characters, and names. The glyphs
// keep their numbers, so all other tables stay as they are.

const HEADER_BYTES = 12;
const RECORD_BYTES = 16;

interface Table {
  readonly tag: string;
  readonly bytes: Buffer;
}

/**
 * @param font a TrueType font without compound glyphs among those that are kept
 * @param codePoints the characters whose outlines stay
 * @returns a font that draws nothing for any other character
 * @throws Error where the font has no outline for one of the characters, or is of another kind
 */
export function subsetFont(font: Buffer, codePoints: ReadonlySet<number>): Buffer {
  const tables = tablesOf(font);
  const table = (tag: string): Buffer => {
    const found = tables.find((one) => one.tag === tag);
    if (!found) throw new Error(`The font has no table ${tag}.`);
    return found.bytes;
  };
  const glyphs = [...codePoints].sort((a, b) => a - b).map((one) => [one, glyphOf(table('cmap'), one)] as const);
  const kept = new Set([0, ...glyphs.map(([, glyph]) => glyph)]);
  const isLong = table('head').readInt16BE(50) === 1;
  const count = table('maxp').readUInt16BE(4);
  const loca = table('loca');
  const glyf = table('glyf');
  const offset = (glyph: number): number => (isLong ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2);
  const outlines: Buffer[] = [];
  const places = Buffer.alloc(loca.length);
  let end = 0;
  for (let glyph = 0; glyph <= count; glyph++) {
    if (isLong) places.writeUInt32BE(end, glyph * 4);
    else places.writeUInt16BE(end / 2, glyph * 2);
    if (glyph === count || !kept.has(glyph)) continue;
    const outline = glyf.subarray(offset(glyph), offset(glyph + 1));
    if (outline.length > 0 && outline.readInt16BE(0) < 0) throw new Error(`Glyph ${glyph} is made of others.`);
    outlines.push(padded(outline));
    end += padded(outline).length;
  }
  const changed = new Map([
    ['loca', places],
    ['glyf', Buffer.concat(outlines)],
    ['head', withoutChecksum(table('head'))],
    ['cmap', mapOf(glyphs)],
    ['post', withoutNames(table('post'))],
  ]);
  return fontOf(
    font.subarray(0, HEADER_BYTES),
    tables.map(({ tag, bytes }) => ({ tag, bytes: changed.get(tag) ?? bytes })),
  );
}

function tablesOf(font: Buffer): readonly Table[] {
  if (font.readUInt32BE(0) !== 0x00010000) throw new Error('This is no TrueType font.');
  return Array.from({ length: font.readUInt16BE(4) }, (_, index) => {
    const at = HEADER_BYTES + index * RECORD_BYTES;
    const start = font.readUInt32BE(at + 8);
    return {
      tag: font.toString('latin1', at, at + 4),
      bytes: font.subarray(start, start + font.readUInt32BE(at + 12)),
    };
  });
}

/** Looks up a character in the segments of the font's map (format 4). */
function glyphOf(cmap: Buffer, codePoint: number): number {
  for (let index = 0; index < cmap.readUInt16BE(2); index++) {
    const map = cmap.subarray(cmap.readUInt32BE(4 + index * 8 + 4));
    if (map.readUInt16BE(0) !== 4) continue;
    const size = map.readUInt16BE(6);
    for (let at = 0; at < size; at += 2) {
      const start = map.readUInt16BE(16 + size + at);
      if (codePoint > map.readUInt16BE(14 + at) || codePoint < start) continue;
      const delta = map.readUInt16BE(16 + 2 * size + at);
      const rangeAt = 16 + 3 * size + at;
      const range = map.readUInt16BE(rangeAt);
      const found = range === 0 ? codePoint : map.readUInt16BE(rangeAt + range + 2 * (codePoint - start));
      const glyph = found === 0 ? 0 : (found + delta) & 0xffff;
      if (glyph !== 0) return glyph;
    }
  }
  throw new Error(`The font has no character ${codePoint.toString(16)}.`);
}

/** The map of a font (format 4) with a segment for each character. @param glyphs of characters, in their order */
function mapOf(glyphs: readonly (readonly [codePoint: number, glyph: number])[]): Buffer {
  const segments = [...glyphs.map(([code, glyph]) => [code, glyph - code] as const), [0xffff, 1] as const];
  const words = (values: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(2 * values.length);
    for (const [index, value] of values.entries()) bytes.writeUInt16BE(value & 0xffff, 2 * index);
    return bytes;
  };
  const codes = segments.map(([code]) => code);
  const power = Math.floor(Math.log2(segments.length));
  const search = [2 ** (power + 1), power, 2 * segments.length - 2 ** (power + 1)];
  const length = 16 + 8 * segments.length;
  const head = [4, length, 0, 2 * segments.length, ...search];
  const map = [...head, ...codes, 0, ...codes, ...segments.map(([, delta]) => delta), ...segments.map(() => 0)];
  // For Unicode, and for Windows, from one table.
  return words([0, 2, 0, 3, 0, 20, 3, 1, 0, 20, ...map]);
}

/** The table that has the names of glyphs, without them (format 3). */
function withoutNames(post: Buffer): Buffer {
  const copy = Buffer.from(post.subarray(0, 32));
  copy.writeUInt32BE(0x00030000, 0);
  return copy;
}

function fontOf(header: Buffer, tables: readonly Table[]): Buffer {
  let start = HEADER_BYTES + tables.length * RECORD_BYTES;
  const records = tables.map(({ tag, bytes }) => {
    const record = Buffer.alloc(RECORD_BYTES);
    record.write(tag, 'latin1');
    record.writeUInt32BE(checksum(bytes), 4);
    record.writeUInt32BE(start, 8);
    record.writeUInt32BE(bytes.length, 12);
    start += padded(bytes).length;
    return record;
  });
  const font = Buffer.concat([header, ...records, ...tables.map(({ bytes }) => padded(bytes))]);
  const head = records[tables.findIndex(({ tag }) => tag === 'head')];
  if (head) font.writeUInt32BE((0xb1b0afba - checksum(font)) >>> 0, head.readUInt32BE(8) + 8);
  return font;
}

function withoutChecksum(head: Buffer): Buffer {
  const copy = Buffer.from(head);
  copy.writeUInt32BE(0, 8);
  return copy;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

/** The sum of a font's 32-bit numbers. */
function checksum(bytes: Buffer): number {
  const whole = padded(bytes);
  let sum = 0;
  for (let at = 0; at < whole.length; at += 4) sum = (sum + whole.readUInt32BE(at)) >>> 0;
  return sum;
}
