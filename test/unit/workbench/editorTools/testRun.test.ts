// Results of VS Code's test tool, as passed to agents.
import assert from 'node:assert/strict';
import { readTestRun } from '../../../../src/workbench/editorTools/testRun';

const paths = {
  holds: (path: string) => path.startsWith('/w/'),
  show: (path: string) => path.slice(3),
};

describe('testRun', () => {
  it('returns the number of passed tests', () => {
    assert.deepEqual(readTestRun('<summary passed=3 failed=0 />', paths), { summary: '3 passed, 0 failed', lines: [] });
  });

  it("returns each failure's expectation and location, within the session's folders", () => {
    const text = `<summary passed=1 failed=2 /><testFailure name="adds" path="math > sums">
<expectedOutput>
3
</expectedOutput>
<actualOutput>
4
</actualOutput>
<stackFrame path="/w/src/math.test.ts" line="7" col="9" />
<stackFrame path="/usr/lib/node/assert.js" line="1" col="1" />
<stackFrame>at /root/secret.js</stackFrame>
<location path="/w/src/math.test.ts" line="7" col="9" />
</testFailure>
<testFailure name="subtracts" path="">
<message>
Broken <b> & more
</message>
</testFailure>
`;
    assert.deepEqual(readTestRun(text, paths), {
      summary: '1 passed, 2 failed',
      lines: [
        'Failed: math > sums > adds',
        'expected:',
        '3',
        'actual:',
        '4',
        '  at src/math.test.ts:7:9',
        '  at src/math.test.ts:7:9',
        'Failed: subtracts',
        'Broken <b> & more',
      ],
    });
  });

  it('returns a text of unknown format unchanged', () => {
    assert.deepEqual(readTestRun('No tests found in the files.\nTry again', paths), {
      summary: 'No tests found in the files.',
      lines: ['Try again'],
    });
    assert.deepEqual(readTestRun('', paths), { summary: 'No test was run', lines: [] });
  });
});
