// The command of a call, as its input says it.
import assert from 'node:assert/strict';
import { plainCommandOf } from '../../../../src/client/view/commandOf';
import type { ToolEntry } from '../../../../src/session/model/state';

const of = (rawInput: unknown, toolKind = 'execute') => plainCommandOf({ toolKind, rawInput } as ToolEntry);

describe('the command in the input of a call', () => {
  it('is known with its folder and purpose', () => {
    const said = { command: 'npm test', description: 'Runs the tests', cwd: '/w', timeout: 1000 };
    assert.deepEqual(of(said), { line: 'npm test', description: 'Runs the tests', cwd: '/w' });
    assert.deepEqual(of({ command: 'ls' }), { line: 'ls' });
  });

  it('is not all where the input says more, or says it in another form', () => {
    for (const said of [
      { command: 'ls', env: { PATH: '/evil' } },
      { command: 'ls', dangerouslyDisableSandbox: true },
      { command: 'ls', workdir: '/w' },
      { command: ['ls'] },
      { command: 'ls', cwd: 7 },
      { command: 'ls', description: {} },
      { command: 'ls', timeout: 'never' },
      'ls',
      null,
    ])
      assert.equal(of(said), undefined, JSON.stringify(said));
    assert.equal(of({ command: 'ls' }, 'edit'), undefined);
  });
});
