// How the chat looks in each theme and in a narrow side bar: pictures in out/screenshots, for
// people to look at.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../support/agents/definition';
import { Chat } from '../support/vscode/chat';
import { screenshot, type Theme, themes } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';

const classes: Readonly<Record<Theme, string>> = {
  dark: '.vscode-dark',
  light: '.vscode-light',
  highContrast: '.vscode-high-contrast:not(.vscode-high-contrast-light)',
  highContrastLight: '.vscode-high-contrast-light',
};

describe('the appearance of the chat', () => {
  const vscode = useVsCode({
    settings: {
      'parley.agents': { plain: { ...scriptedAgent('plain'), name: 'Plain' } },
      'parley.defaultAgent': 'demo',
    },
  });
  let chat: Chat;

  before('make a scene with a bit of everything', async () => {
    chat = await Chat.open(vscode.window.page);
    await chat.pick('Pace', 'Instant');
    await chat.run('/thoughts');
    await chat.run('/plan');
    await chat.send('/edit a line that you have read before it was written');
    await chat.permission.waitFor();
    await chat.send('Then update the changelog.');
    await chat.send('And open a draft commit message.');
  });

  for (const theme of ['dark', 'light', 'highContrast', 'highContrastLight'] as const) {
    it(`follows the theme ${theme}`, async () => {
      const { page } = vscode.window;
      vscode.server.configure({ 'workbench.colorTheme': themes[theme] });
      await chat.frame.locator(`body${classes[theme]}`).waitFor();
      await chat.permission.locator('.diff-line.added').first().waitFor();
      await chat.queue.nth(1).waitFor();
      await chat.answerable();
      await screenshot(page, `chat-${theme}`);
    });
  }

  it('fits into a narrow side bar', async () => {
    const { page } = vscode.window;
    vscode.server.configure({ 'workbench.colorTheme': themes.dark });
    await command(page, 'Parley: Focus on Chat View');
    const view = await Chat.at(page, 'view');
    await view.permission.waitFor();
    // The edge of the side bar is dragged until the view is as narrow as people make it.
    const bar = page.locator('.part.auxiliarybar');
    const box = await bar.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x, box.y + 300);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 300, box.y + 300, { steps: 5 });
    await page.mouse.up();
    await view.frame.locator(`body${classes.dark}`).waitFor();
    await view.answerable();
    await screenshot(page, 'chat-narrow-dark');
  });
});
