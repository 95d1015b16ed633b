// JSON from outside that is nested deeply: it is refused before the engine spends seconds on it.
import { strict as assert } from 'node:assert';
import { nestsTooDeep, objectOf, parsedJson, parseMessage } from '../../../src/base/untrusted';
import { parseBounded } from '../../../src/distributed/model/model';
import { jsonObject } from '../../../src/traffic/trafficLog';

const DEEP = `${'{"a":['.repeat(100_000)}1${']}'.repeat(100_000)}`;

describe('JSON that is nested deeply', () => {
  it('is refused without parsing', () => {
    const { parse } = JSON;
    let parsed = 0;
    JSON.parse = (text) => {
      parsed++;
      return parse(text);
    };
    try {
      assert.ok(nestsTooDeep(DEEP));
      assert.throws(() => parseMessage(DEEP), SyntaxError);
      assert.equal(parsedJson(DEEP), undefined);
      assert.equal(objectOf(DEEP.slice(0, 1000)), DEEP.slice(0, 1000));
      assert.equal(jsonObject(DEEP), undefined);
      assert.throws(() => parseBounded(DEEP, DEEP.length), { code: 'too-deep' });
      assert.equal(parsed, 1, 'the shorter one is only cut off');
    } finally {
      JSON.parse = parse;
    }
  });

  it('is read if it is only long, or if brackets stand in its texts', () => {
    const wide = Array.from({ length: 2000 }, () => ({ a: ['[[[[{{{{'] }));
    assert.deepEqual(parseMessage(JSON.stringify(wide)), wide);
    const inText = { a: '[{'.repeat(2000), b: '"]' };
    assert.deepEqual(parseMessage(JSON.stringify(inText)), inText);
  });
});
