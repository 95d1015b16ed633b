// The extension in a real VS Code: it activates, and what package.json promises is there.
import { strict as assert } from 'node:assert';
import { extensions, commands as vscodeCommands } from 'vscode';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe('activation', () => {
  it('loses everything if the extension cannot be activated', async () => {
    const extension = extensions.getExtension('parley.parley');
    assert.ok(extension, 'parley.parley is not installed');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('shows an error instead of acting if a command of the palette has no handler', async () => {
    const extension = extensions.getExtension<unknown>('parley.parley');
    assert.ok(extension);
    await extension.activate();
    const registered = new Set(await vscodeCommands.getCommands(true));
    const { contributes } = extension.packageJSON as Manifest;
    const missing = contributes.commands.map(({ command }) => command).filter((command) => !registered.has(command));
    assert.deepEqual(missing, []);
  });

  it('breaks scripts that rely on the documented commands if one of them is missing', async () => {
    await extensions.getExtension('parley.parley')?.activate();
    const registered = new Set(await vscodeCommands.getCommands(true));
    const documented = [
      'open',
      'newSession',
      'send',
      'cancel',
      'selectAgent',
      'restartAgent',
      'checkStatus',
      'showLog',
      'sessions',
      'forkSession',
      'renameSession',
      'signIn',
      'signOut',
    ];
    assert.deepEqual(
      documented.filter((name) => !registered.has(`parley.${name}`)),
      [],
    );
  });
});
