// How the chat looks: a picture of each scene in out/screenshots, for people to look at. A test fails only where there is nothing to see.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot, type Theme, themes } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

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
      assert.equal(await chat.queue.count(), 2);
      await chat.answerable();
      await screenshot(page, `chat-${theme}`);
    });
  }

  it('fits into a side bar of 300 pixels', async () => {
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
    const width = await view.frame.locator('body').evaluate('document.documentElement.clientWidth');
    assert.ok(Number(width) <= 320, `the view is ${width} pixels wide`);
    // Nothing may stick out to the side.
    const overflow = await view.frame.locator('body').evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(overflow) <= Number(width), `its content is ${overflow} pixels wide`);
    await view.answerable();
    await screenshot(page, 'chat-narrow-dark');
    for (const button of ['Allow', 'Reject'])
      assert.ok(await view.permission.getByRole('button', { name: button, exact: true }).isVisible());
    await view.composer.focus();
    await page.keyboard.press('Control+f');
    const find = view.frame.getByRole('search', { name: 'Find in session' });
    await find.getByRole('textbox', { name: 'Find' }).fill('no such words');
    await find.getByText('No results', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await find.waitFor({ state: 'detached' });
  });

  it('closes a request in every place where the chat is open', async () => {
    const { page } = vscode.window;
    const view = await Chat.at(page, 'view');
    await view.answer('Reject');
    await chat.permission.waitFor({ state: 'detached' });
    await view.permission.waitFor({ state: 'detached' });
    await command(page, 'View: Toggle Secondary Side Bar Visibility');
    await chat.state('ready', 60_000);
  });
});
