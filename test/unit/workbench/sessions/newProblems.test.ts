// Errors introduced by a turn.
import assert from 'node:assert/strict';
import { newErrors, signatureOf } from '../../../../src/workbench/sessions/newProblems';

describe('newProblems', () => {
  const type = { code: '2322', message: "Type 'string' is not assignable", text: "  const a: number = '';" };
  const name = { code: '2304', message: "Cannot find name 'b'", text: 'b();' };

  it('counts errors that a previously checked file did not have', () => {
    const errors = new Set([signatureOf(type)]);
    assert.deepEqual(newErrors([type, name], { errors, text: '' }), [name]);
    assert.deepEqual(newErrors([{ ...type, text: 'moved elsewhere' }], { errors }), []);
  });

  it('does not count old errors of a file that was never opened', () => {
    const text = "function f() {\r\n\tconst a: number = '';\r\n}\n";
    assert.deepEqual(newErrors([type, name], { text }), [name]);
  });

  it('counts all errors of a new file, and none if its earlier text is unknown', () => {
    assert.deepEqual(newErrors([type, name], { text: '' }), [type, name]);
    assert.deepEqual(newErrors([type, name], {}), []);
  });
});
