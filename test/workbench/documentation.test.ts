// The pages of docs/, which are packaged and open offline.
import { strict as assert } from 'node:assert';
import { commands, TabInputWebview, window } from 'vscode';

describe('the documentation', () => {
  afterEach(() => commands.executeCommand('workbench.action.closeAllEditors'));

  it('opens as a preview', async () => {
    const opened = new Promise<string>((resolve) => {
      const listening = window.tabGroups.onDidChangeTabs(({ opened: tabs }) => {
        const tab = tabs.find(({ input }) => input instanceof TabInputWebview && /markdown/.test(input.viewType));
        if (!tab) return;
        listening.dispose();
        resolve(tab.label);
      });
    });
    await commands.executeCommand('parley.openDocumentation');
    assert.match(await opened, /README\.md$/);
  });
});
