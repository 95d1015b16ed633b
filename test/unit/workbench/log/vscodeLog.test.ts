// The log of the extension, written to until the very end of the window.
import { strict as assert } from 'node:assert';
import type { LogOutputChannel } from 'vscode';
import { vscodeLog } from '../../../../src/workbench/log/vscodeLog';

describe('the log', () => {
  it('writes at the levels of VS Code', () => {
    const lines: string[] = [];
    const note = (level: string) => (text: string) => void lines.push(`${level}: ${text}`);
    const levels = ['trace', 'debug', 'info', 'warn', 'error'] as const;
    const channel = Object.fromEntries(levels.map((level) => [level, note(level)])) as unknown as LogOutputChannel;
    for (const level of levels) vscodeLog(channel)[level]('x');
    assert.deepEqual(lines, ['trace: x', 'debug: x', 'info: x', 'warn: x', 'error: x']);
  });

  it('does not throw after VS Code has closed its channel', () => {
    const channel = {
      warn() {
        throw new Error('Channel has been closed');
      },
    } as unknown as LogOutputChannel;
    assert.doesNotThrow(() => vscodeLog(channel).warn('too late'));
  });
});
