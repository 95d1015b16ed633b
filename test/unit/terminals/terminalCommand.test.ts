// Whether the command of `terminal/create` runs as a program or in a shell.
import assert from 'node:assert/strict';
import { planCommand } from '../../../src/terminals/terminalCommand';

describe('a command of one word', () => {
  it('is run by a shell if it is a builtin, else as a program', () => {
    const plan = (command: string) => planCommand({ command, args: [], cwd: '/' }, { SHELL: '/bin/bash' }, 'linux');
    assert.deepEqual(plan('export'), { file: '/bin/bash', args: ['-c', 'export'], shell: true });
    assert.deepEqual(plan('ls'), { file: 'ls', args: [], shell: false });
  });
});
