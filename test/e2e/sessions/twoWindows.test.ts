// Two windows on one workspace: one session is in one of them at a time.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainAgent, readAgentLog } from '../../support/agents/definition';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-two-windows-'));
const log = join(scratch, 'agent.ndjson');
const starts = (): number => readAgentLog(log).filter(({ ev }) => ev === 'start').length;

after(() => removeFolder(scratch));

describe('two windows on one workspace', () => {
  const vscode = useVsCode({
    theme: 'dark',
    settings: {
      ...plainAgent(log),
    },
  });

  it('write to a session one at a time, and the second takes over when the first has closed', async () => {
    const first = await Chat.open(vscode.window.page);
    assert.equal(await first.run('say From the first window'), 'end_turn');
    const started = starts();

    const page = await vscode.window.context.newPage();
    await page.goto(vscode.server.url);
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await command(page, 'Parley: Focus Chat');
    const second = await Chat.at(page, 'panel');
    await second.entries('agent').getByText('From the first window').waitFor();
    await second.frame.locator('[data-error-code="session-held"]').waitFor();
    await screenshot(page, 'held-dark');
    await second.send('say Against each other');
    await second.frame.getByText('open in another window').first().waitFor();
    assert.equal(await second.composer.inputValue(), 'say Against each other');
    await second.button('Take over').click();
    await page.getByText('This session is still open in the other window.').first().waitFor();
    assert.equal(starts(), started);

    await vscode.window.page.goto('about:blank');
    // There is no sign in this window of the end of the other: a person tries again.
    while (await second.button('Take over').isVisible())
      await second
        .button('Take over')
        .click({ timeout: 1000 })
        .catch(() => undefined);
    await second.state('idle');
    await second.composer.press('Enter');
    await second.entries('agent').getByText('Against each other').waitFor();
    await second.state('ready');
    await page.close();
  });
});
