// The extension activates in a real VS Code and contributes what package.json declares.
import { strict as assert } from 'node:assert';
import { extensions, commands as vscodeCommands } from 'vscode';
import { COMMAND_ALIASES, UNLISTED_COMMANDS } from '../../src/workbench/activation/unlistedCommands';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe('activation', () => {
  it('succeeds', async () => {
    const extension = extensions.getExtension('parley.parley');
    assert.ok(extension, 'parley.parley is not installed');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers a handler for each command, including earlier ids', async () => {
    const extension = extensions.getExtension<unknown>('parley.parley');
    assert.ok(extension);
    await extension.activate();
    const registered = new Set(await vscodeCommands.getCommands(true));
    const { contributes } = extension.packageJSON as Manifest;
    const missing = [
      ...contributes.commands.map(({ command }) => command),
      ...UNLISTED_COMMANDS,
      ...Object.keys(COMMAND_ALIASES),
    ].filter((command) => !registered.has(command));
    assert.deepEqual(missing, []);
  });
});
