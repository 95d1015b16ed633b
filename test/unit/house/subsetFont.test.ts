// The font of icons in the package: what the panel draws is there, and nothing else.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { subsetFont } from '../../../scripts/lib/subsetFont';

describe('the font of icons', () => {
  const font = readFileSync(join(process.cwd(), 'node_modules/@vscode/codicons/dist/codicon.ttf'));
  const [add, close] = [0xea60, 0xea76];

  it('keeps the outlines of the characters that are used, as they are', () => {
    const one = subsetFont(font, new Set([add]));
    const two = subsetFont(font, new Set([add, close]));
    assert.ok(one.length < two.length && two.length < font.length / 20);
    // Whatever is left out, what is kept stays the same.
    assert.deepEqual(subsetFont(two, new Set([add])), one);
    assert.deepEqual(subsetFont(two, new Set([add, close])), two);
  });

  it('has a right sum of its numbers', () => {
    const small = subsetFont(font, new Set([add]));
    let sum = 0;
    for (let at = 0; at < small.length; at += 4) sum = (sum + small.readUInt32BE(at)) >>> 0;
    assert.equal(sum, 0xb1b0afba);
  });

  it('does not leave out a character in silence', () => {
    assert.throws(() => subsetFont(font, new Set([0x41])), /no character 41/);
    assert.throws(() => subsetFont(Buffer.from('wOFFxxxxxxxx'), new Set([add])), /no TrueType font/);
  });
});
