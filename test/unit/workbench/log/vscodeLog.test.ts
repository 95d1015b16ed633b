// The extension's log, written until the window closes.
import { strict as assert } from 'node:assert';
import type { LogOutputChannel } from 'vscode';
import { vscodeLog } from '../../../../src/workbench/log/vscodeLog';

describe('the log', () => {
  it('does not throw after VS Code has closed its channel', () => {
    const channel = {
      warn() {
        throw new Error('Channel has been closed');
      },
    } as unknown as LogOutputChannel;
    assert.doesNotThrow(() => vscodeLog(channel).warn('too late'));
  });
});
