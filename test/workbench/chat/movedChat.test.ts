// The chat moves between editor area and side bar with its session.
import { strict as assert } from 'node:assert';
import { commands, type Tab, TabInputWebview, window, workspace } from 'vscode';
import { until } from '../editing';
import { activated } from '../extension';

const { onDidChangeTabs, onDidChangeTabGroups } = window.tabGroups;
const untilTabs = (holds: () => boolean): Promise<void> => until(holds, onDidChangeTabs, onDidChangeTabGroups);

const chatTab = (): Tab | undefined =>
  window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .find(({ input }) => input instanceof TabInputWebview && input.viewType.endsWith('parley.chat'));

const hasTab = (): boolean => chatTab() !== undefined;

describe('the chat', () => {
  before(activated);

  afterEach(async () => {
    await commands.executeCommand('workbench.action.closeAllEditors');
    await commands.executeCommand('workbench.action.closeAuxiliaryBar');
  });

  it('moves from the editor area into the side bar and back', async () => {
    await commands.executeCommand('parley.open');
    await untilTabs(hasTab);
    await commands.executeCommand('parley.moveChatToSideBar');
    await untilTabs(() => !hasTab());
    await commands.executeCommand('parley.moveChatToEditor');
    await untilTabs(hasTab);
  });

  it('has a tab with the beginning and end of a long title, leaving space for other tabs', async () => {
    await commands.executeCommand('parley.open');
    await commands.executeCommand('parley.newSession', { agent: 'demo' });
    await commands.executeCommand('parley.renameSession', {
      title: `${'handle negative values, '.repeat(10)}of Gamma`,
    });
    await untilTabs(() => chatTab()?.label === 'handle negative values, handle nega…alues, of Gamma');
  });

  it('passes focus to the editor and back', async () => {
    await commands.executeCommand('parley.open');
    await untilTabs(hasTab);
    const document = await workspace.openTextDocument({ content: 'text' });
    await window.showTextDocument(document, { viewColumn: 2 });
    await commands.executeCommand('parley.toggleFocus', { to: 'chat' });
    await untilTabs(() => window.tabGroups.activeTabGroup.activeTab?.input instanceof TabInputWebview);
    await commands.executeCommand('parley.toggleFocus', { to: 'editor' });
    assert.equal(window.activeTextEditor?.document, document);
  });
});
