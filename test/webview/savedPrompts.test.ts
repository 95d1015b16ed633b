// Saved prompts in the composer: listed with the agent's commands, and shown before they are sent.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of prompts have this syntax
import assert from 'node:assert/strict';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('saved prompts', () => {
  const browser = useHarness();
  const field = () => browser.panel.page.getByRole('textbox', { name: 'Message' });

  const COMMANDS = [
    { name: 'review', description: 'Of the agent' },
    { name: 'init', description: 'Begin' },
  ];
  const PROMPTS = [
    { name: 'review', description: 'Of the team', source: 'workspace', text: 'Review ${input:what} with care.' },
    { name: 'tests', description: 'Write tests', source: 'user', text: 'Write tests.\nRun them.' },
  ] as const;

  async function withPrompts(): Promise<void> {
    await browser.open({ session: { commands: COMMANDS } });
    await browser.panel.next('prompts');
    await browser.panel.send({ type: 'prompts', prompts: PROMPTS });
  }

  it("are listed with the agent's commands and their source, and reloaded for each list", async () => {
    await withPrompts();
    await field().pressSequentially('/');
    const rows = browser.panel.page.locator('.completion-list [role=option]');
    await rows.nth(3).waitFor();
    assert.deepEqual(await rows.allInnerTexts(), [
      '/review\nOf the agent',
      '/init\nBegin',
      '/review\nPrompt of the workspace · Of the team',
      '/tests\nYour prompt · Write tests',
    ]);
    const heights = await rows
      .nth(2)
      .locator('.codicon, .popup-label')
      .evaluateAll((elements) => elements.map((element) => getComputedStyle(element).lineHeight));
    assert.equal(new Set(heights).size, 1, 'the icon is as high in the row as the name');
    assert.equal((await browser.panel.posted('prompts')).length, 2);
    await browser.panel.send({ type: 'prompts', prompts: PROMPTS.slice(1) });
    await browser.panel.page.waitForFunction(() => document.querySelectorAll('[role=option]').length === 3);
  });

  it('are inserted into the message with the first placeholder selected, and not sent', async () => {
    await withPrompts();
    await field().pressSequentially('/rev');
    await browser.panel.page.keyboard.press('ArrowDown');
    await browser.panel.page.keyboard.press('Enter');
    assert.equal(await field().inputValue(), 'Review ${input:what} with care.');
    await browser.panel.page.keyboard.type('the diff');
    assert.equal(await field().inputValue(), 'Review the diff with care.');
    assert.equal((await browser.panel.posted('send')).length, 0);
    await browser.panel.page.keyboard.press('Enter');
    assert.equal((await browser.panel.next('send')).text, 'Review the diff with care.');
  });

  it('are not sent by name: Enter inserts their text with the rest of the message', async () => {
    await withPrompts();
    await field().pressSequentially('/tests for the parser');
    await browser.panel.page.keyboard.press('Enter');
    assert.equal(await field().inputValue(), 'Write tests.\nRun them.\n\nfor the parser');
    await field().fill('');
    await field().pressSequentially('/tests');
    await browser.panel.page.getByRole('option').waitFor();
    await browser.panel.page.keyboard.press('Enter');
    assert.equal(await field().inputValue(), 'Write tests.\nRun them.');
    assert.equal((await browser.panel.posted('send')).length, 0);
  });

  it('yield to an agent command of the same name', async () => {
    await withPrompts();
    await field().pressSequentially('/review');
    await browser.panel.page.getByRole('option').first().waitFor();
    await browser.panel.page.keyboard.press('Enter');
    assert.equal((await browser.panel.next('send')).text, '/review');
  });

  it('are created from a sent message', async () => {
    const sent = message('u', 'user', 'Fix the parser.');
    await browser.open({ items: [{ ...sent, canEdit: true } as typeof sent] });
    await browser.panel.page.locator('[data-entry-id=u]').hover();
    await browser.panel.page.getByRole('button', { name: 'Save as prompt…' }).click();
    assert.equal((await browser.panel.next('savePrompt')).text, 'Fix the parser.');
  });
});
