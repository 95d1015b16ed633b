// Decoding console output on Windows: UTF-8, or the console's code page.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ConsoleReader } from '../../../src/terminals/consoleText';

describe('console output on Windows', () => {
  const read = (page: number, ...chunks: readonly (string | readonly number[])[]): string => {
    const reader = new ConsoleReader(page);
    const texts = chunks.map((chunk) => reader.write(Buffer.from(chunk as string)));
    return texts.join('') + reader.end();
  };

  it('is read as UTF-8 if valid, wherever it is split', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat({ max: 40 })), (text, cuts) => {
        const bytes = Buffer.from(text, 'utf8');
        const reader = new ConsoleReader(850);
        let at = 0;
        let seen = '';
        for (const length of cuts) {
          seen += reader.write(bytes.subarray(at, at + length));
          at += length;
        }
        assert.equal(seen + reader.write(bytes.subarray(at)) + reader.end(), bytes.toString('utf8'));
      }),
    );
  });

  it("is read with the console's code page if it is not UTF-8", () => {
    assert.equal(read(850, [0x66, 0x81, 0x72, 0x20, 0x84, 0x94, 0xe1]), 'für äöß');
    assert.equal(read(437, [0x81, 0xc4, 0xe1]), 'ü─ß');
    assert.equal(read(858, [0xd5]), '€');
    assert.equal(read(866, [0x8f, 0xe0, 0xa8, 0xa2, 0xa5, 0xe2]), 'Привет');
    assert.equal(read(1252, [0xfc, 0x80]), 'ü€');
  });

  it('is decoded line by line, as one command can mix both', () => {
    assert.equal(read(850, [0x81, 0x0a], 'ü\n', [0x81, 0x0a]), 'ü\nü\nü\n');
    assert.equal(read(850, [0x81, 0x0a, ...Buffer.from('ü\n')]), 'ü\nü\n');
  });

  it('preserves split two-byte characters', () => {
    const bytes = [0x93, 0xfa, 0x96, 0x7b];
    assert.equal(read(932, bytes), '日本');
    assert.equal(read(932, bytes.slice(0, 1), bytes.slice(1, 3), bytes.slice(3)), '日本');
  });

  it('has replacement characters if the code page is unknown', () => {
    assert.equal(read(65001, [0x81, 0x41]), '\ufffdA');
  });
});
