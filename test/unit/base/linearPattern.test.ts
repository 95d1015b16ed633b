// Untrusted patterns match as on the platform, and none can block the panel.
import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import { linearPattern } from '../../../src/base/linearPattern';

describe('a pattern from an agent', () => {
  const cases: readonly (readonly [pattern: string, text: string])[] = [
    ['^[a-z]+$', 'abc'],
    ['^[a-z]+$', 'abC'],
    ['b', 'abc'],
    ['^a{2,3}$', 'aa'],
    ['^a{2,3}$', 'aaaa'],
    ['^a{2,}$', 'aaaaa'],
    ['^a{0}$', ''],
    ['a{,2}', 'a'],
    ['^(?:ab|cd)*$', 'abcdab'],
    ['^(?<year>\\d{4})-\\d\\d$', '2026-11'],
    ['^\\p{L}+$', 'Grüße'],
    ['^[^\\]]+$', 'a]b'],
    ['^[\\w.-]+@[\\w-]+(\\.[\\w-]+)+$', 'a.b@c-d.example'],
    ['\\bfoo\\b', 'a foo b'],
    ['\\bfoo\\b', 'afoob'],
    ['^.$', '😀'],
    ['^\\u{1F600}$', '😀'],
    ['^\\x41\\u0042$', 'AB'],
    ['', ''],
    ['^$', 'x'],
    ['^(|a)$', 'a'],
    ['^(a?){3}$', 'aa'],
    ['^[\\-a]$', '-'],
    ['\\-', 'a-b'],
  ];
  for (const [pattern, text] of cases) {
    it(`has the right result: /${pattern}/ on ${JSON.stringify(text)}`, () => {
      const flags = ['u', ''].find((one) => {
        try {
          return new RegExp(pattern, one);
        } catch {
          return false;
        }
      });
      assert.equal(linearPattern(pattern)?.(text), new RegExp(pattern, flags).test(text));
    });
  }

  it('matches like the platform', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '^', '$', '\\b', 'ab', '(?:a|b)');
    const sign = fc.constantFrom('', '*', '+', '?', '{2}', '{1,2}', '{0,1}', '*?');
    const piece = fc
      .tuple(atom, sign)
      .map(([one, count]) => (/^(\^|\$|\\b)$/.test(one) ? one : one === 'ab' ? `(ab)${count}` : one + count));
    const pattern = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
    const either = fc.tuple(pattern, pattern).map(([one, other]) => `(?:${one})|${other}`);
    fc.assert(
      fc.property(
        fc.oneof(pattern, either),
        fc.string({ unit: fc.constantFrom('a', 'b', '1', ' '), maxLength: 8 }),
        (source, text) => {
          assert.equal(linearPattern(source)?.(text), new RegExp(source, 'u').test(text), `/${source}/ on "${text}"`);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('finishes where backtracking never would', () => {
    const text = `${'a'.repeat(20_000)}!`;
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '^(a*)*$']) {
      assert.equal(linearPattern(pattern)?.(text), false, pattern);
    }
  });

  it('is left unjudged if it is invalid, too large or not linear', () => {
    for (const pattern of [
      '(a)\\1',
      '(?=a)a',
      '(?<!a)b',
      '(?<n>a)\\k<n>',
      '(',
      '[',
      'a{99999}',
      'x'.repeat(1001),
      '(a{100}){100}',
    ])
      assert.equal(linearPattern(pattern), undefined, pattern);
  });
});
