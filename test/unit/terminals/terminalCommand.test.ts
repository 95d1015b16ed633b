// Whether the command of `terminal/create` runs as a program or in a shell.
import assert from 'node:assert/strict';
import { planCommand } from '../../../src/terminals/terminalCommand';

describe('a one-word command', () => {
  it('runs in a shell if it is a builtin, otherwise as a program', () => {
    const plan = (command: string) => planCommand({ command, args: [], cwd: '/' }, { SHELL: '/bin/bash' }, 'linux');
    assert.deepEqual(plan('export'), { file: '/bin/bash', args: ['-c', 'export'], shell: true });
    assert.deepEqual(plan('ls'), { file: 'ls', args: [], shell: false });
  });
});
