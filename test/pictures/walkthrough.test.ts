// Makes the pictures of the walkthrough, media/walkthrough/*.webp, and that of the list of agents
// in the README.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { closeLoopbacks } from '../support/servers/loopback';
import { RegistryServer } from '../support/servers/registryServer';
import { Chat } from '../support/vscode/chat';
import { repository } from '../support/vscode/repository';
import { useVsCode } from '../support/vscode/useVsCode';
import { command, inList } from '../support/vscode/workbench';

describe('the pictures of the walkthrough', function () {
  this.timeout(120_000);
  const settings: Record<string, unknown> = {
    'window.commandCenter': false,
    'workbench.layoutControl.enabled': false,
    'workbench.activityBar.location': 'hidden',
    'workbench.editor.showTabs': 'none',
    'window.title': 'Parley',
  };

  before('start a registry', async () => {
    settings['parley.registry.url'] = (await RegistryServer.start()).list();
  });
  after(closeLoopbacks);

  const vscode = useVsCode({ theme: 'dark', settings, viewport: { width: 700, height: 510 }, reducedMotion: true });
  let page: Page;
  let chat: Chat;

  /**
   * A picture with round corners and a thin line, which fits a dark and a light page.
   * @param top pixels above it that are left out: without others, the title bar
   */
  async function picture(name: string, top = 31): Promise<void> {
    const png = (await page.screenshot()).toString('base64');
    const blank = await vscode.window.context.newPage();
    const webp = await blank.evaluate<string>(`(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png}';
      await image.decode();
      const [top, bottom] = [${top}, 32];
      const [width, height] = [image.width, image.height - top - bottom];
      const canvas = Object.assign(document.createElement('canvas'), { width, height });
      const context = canvas.getContext('2d');
      context.beginPath();
      context.roundRect(0.5, 0.5, width - 1, height - 1, 8);
      context.save();
      context.clip();
      context.drawImage(image, 0, -top);
      context.restore();
      context.strokeStyle = '#80808080';
      context.stroke();
      return canvas.toDataURL('image/webp', 0.9).split(',')[1];
    })()`);
    await blank.close();
    writeFileSync(join(repository, `media/walkthrough/${name}.webp`), Buffer.from(webp, 'base64'));
  }

  async function startSession(): Promise<void> {
    await command(page, 'Parley: New Session');
    // Until then, the session before it is on the screen.
    await chat.frame.getByText('Describe a task').waitFor();
    chat = await Chat.at(page, 'panel');
    await chat.state('ready');
  }

  it('show the agents of the registry', async () => {
    ({ page } = vscode.window);
    chat = await Chat.open(page);
    await chat.button('Browse agents…').waitFor();
    await command(page, 'View: Close Primary Side Bar');
    await inList(page, 'Parley: Add Agent…', async (list, patience) => {
      await list.getByText('Agent registry').waitFor(patience);
    });
    await picture('agents', 0);
    await page.setViewportSize({ width: 1000, height: 520 });
    await page.screenshot({ path: join(repository, 'media/add-agent.png') });
    await page.setViewportSize({ width: 700, height: 510 });
    await page.keyboard.press('Escape');
  });

  it('show the demo agent', async () => {
    await chat.run('/plan');
    await picture('demo');
  });

  it('show a question with the change that it is about', async () => {
    await startSession();
    await chat.send('/edit');
    await chat.answerable();
    await picture('questions');
    await chat.button('Stop').click();
    await chat.turnEnd();
  });

  it('show the queue', async () => {
    await startSession();
    await chat.send('/slow');
    await chat.state('running');
    await chat.send('Then run the tests.');
    await chat.send('And write a line for the changelog.');
    await chat.queue.nth(1).waitFor();
    await picture('queue');
    await chat.button('Stop').click();
  });

  it('show what went wrong', async () => {
    await startSession();
    await chat.send('/crash');
    await chat.button('Send again').waitFor();
    await picture('trouble');
  });
});
