// Agents are processes on the user's machine: none in a folder that is not trusted, none left when
// the window is closed.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { goneFrom } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { descendants } from '../../support/vscode/processTree';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-processes-'));
const settings = (log: string): Record<string, unknown> => ({
  'parley.agents': { plain: { ...scriptedAgent('with-child', join(scratch, log)), name: 'Plain' } },
  'parley.defaultAgent': 'plain',
  'parley.background': 'off',
});

/** Agents of ours that run below a process, by what starts them. */
function agentsBelow(pid: number): string[] {
  return descendants(pid)
    .map(({ command }) => command)
    .filter((line) => /scriptedAgent\.js|demo\/agent\.js/.test(line));
}

after(() => removeFolder(scratch));

describe('the processes of agents', () => {
  const vscode = useVsCode({ settings: settings('open.ndjson') });
  const log = (): ReturnType<typeof readAgentLog> => readAgentLog(join(scratch, 'open.ndjson'));

  it('end with their children when the window closes', async () => {
    const chat = await Chat.open(vscode.window.page);
    assert.equal(await chat.run('say Hello'), 'end_turn');
    const pids = log().flatMap(({ ev, pid, child }) =>
      ev === 'start' ? [pid] : ev === 'child' && typeof child === 'number' ? [child] : [],
    );
    assert.equal(pids.length, 2);
    assert.equal(agentsBelow(vscode.server.pid).length, 1);
    // As a person leaves: the page goes, the server stays.
    await vscode.window.page.goto('about:blank');
    await Promise.all(pids.map((pid) => goneFrom(pid)));
    assert.deepEqual(
      log().filter(({ ev }) => ev === 'violation'),
      [],
    );
  });
});

describe('a folder that is not trusted', () => {
  const vscode = useVsCode({
    trust: false,
    theme: 'dark',
    settings: { ...settings('trust.ndjson'), 'security.workspace.trust.startupPrompt': 'never' },
  });
  let chat: Chat;

  it('starts no agent', async () => {
    const { page } = vscode.window;
    await command(page, 'Parley: Focus Chat');
    chat = await Chat.at(page, 'panel');
    await chat.send('say Hello');
    await chat.state('idle');
    await chat.frame.locator('.status-text').getByText('Restricted Mode').waitFor();
    await chat.frame.locator('[data-error-code="untrusted-workspace"]').getByText('untrusted workspace').waitFor();
    assert.equal(await chat.composer.inputValue(), 'say Hello');
    await screenshot(page, 'untrusted-dark');
    assert.deepEqual(readAgentLog(join(scratch, 'trust.ndjson')), []);
    assert.deepEqual(agentsBelow(vscode.server.pid), []);
  });

  it('can be trusted from the panel', async () => {
    const { page } = vscode.window;
    await chat.button('Manage workspace trust').click();
    const editor = page.locator('.workspace-trust-editor');
    await editor.getByRole('button', { name: 'Trust', exact: true }).click();
    await editor.getByText('You trust this folder').click();
    await page.keyboard.press('Escape');
    await editor.waitFor({ state: 'hidden' });
    assert.equal(await chat.composer.inputValue(), 'say Hello');
    await chat.composer.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('agent').getByText('Hello').waitFor();
  });
});
