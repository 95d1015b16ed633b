// Arguments that VS Code passes to commands.
import { strict as assert } from 'node:assert';
import { useFakeEditor } from '../../../support/fakeEditor';

useFakeEditor();
const { runCommand } = await import('../../../../src/workbench/commands/runCommand');

describe('command arguments', () => {
  it('count as missing if a keybinding or link passes null', async () => {
    const workbench = { run: async (_id: string, ...args: readonly unknown[]) => args };
    assert.deepEqual(await runCommand(workbench as never, 'export', [null, 'x', 0]), [undefined, 'x', 0]);
  });
});
