// A window that slept while another one went on with its session. The tests' own process is the other window: it has the same journal open.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog } from '../../../src/base/log';
import { Journal } from '../../../src/store/journal';
import { readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { goneFrom } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';

const scratch = mkdtempSync(join(tmpdir(), 'parley-taken-'));
const log = join(scratch, 'agent.ndjson');

after(() => removeFolder(scratch));

const prompts = (): number =>
  readAgentLog(log).filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt').length;

describe('a window whose session another one has taken over', () => {
  const vscode = useVsCode({
    theme: 'dark',
    settings: {
      'parley.agents': { plain: { ...scriptedAgent('plain', log), name: 'Plain' } },
      'parley.defaultAgent': 'plain',
    },
  });

  /** The journal of the window, as another window has it open. */
  function otherWindow(): Journal {
    const folder = join(vscode.server.dataDir, 'data/User/globalStorage/parley.parley');
    return Journal.open({ folder, log: silentLog, now: Date.now });
  }

  /** Makes the window look as if it had slept for an hour. */
  function ageLeases(): void {
    const file = new DatabaseSync(join(vscode.server.dataDir, 'data/User/globalStorage/parley.parley/parley.db'));
    try {
      file.exec('PRAGMA busy_timeout = 5000');
      assert.ok(Number(file.prepare('UPDATE leases SET ticks = ticks - 3600000').run().changes) > 0);
    } finally {
      file.close();
    }
  }

  it('keeps the draft, sends nothing while the other one has the session, and takes it back', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    assert.equal(await chat.run('say From this window'), 'end_turn');
    const agent = readAgentLog(log).findLast(({ ev }) => ev === 'start')?.pid ?? 0;
    const other = otherWindow();
    try {
      const key = other.sessions({ limit: 1 })[0]?.key ?? '';
      ageLeases();
      assert.equal(other.claim(key, 'another').kind, 'owned');
      await chat.send('say Against each other');
      await chat.frame.locator('[data-error-code="session-held"]').waitFor();
      await chat.frame.getByText('Another window took over this session').first().waitFor();
      await goneFrom(agent);
      assert.equal(prompts(), 1, 'two windows do not drive one session');
      assert.equal(await chat.composer.inputValue(), 'say Against each other');
      await chat.entries('agent').getByText('From this window').waitFor();
      await screenshot(page, 'taken-over-dark');
      await chat.button('Take over').click();
      await page.getByText('This session is still open in the other window.').first().waitFor();
    } finally {
      other.dispose();
    }
    await chat.button('Take over').click();
    await chat.state('idle');
    await chat.entries('agent').getByText('From this window').waitFor();
    assert.equal(await chat.composer.inputValue(), 'say Against each other');
    await chat.composer.press('Enter');
    await chat.entries('agent').getByText('Against each other').waitFor();
    await chat.state('ready');
    assert.equal(prompts(), 2);
  });

  it('continues in a new session where the other one has deleted it', async () => {
    const chat = await Chat.open(vscode.window.page);
    const other = otherWindow();
    try {
      const key = other.sessions({ limit: 1 })[0]?.key ?? '';
      ageLeases();
      assert.equal(other.claim(key, 'another').kind, 'owned');
      await chat.send('say Nowhere to go');
      await chat.frame.locator('[data-error-code="session-held"]').waitFor();
      other.deleteSession(key);
    } finally {
      other.dispose();
    }
    await chat.button('Take over').click();
    await chat.entries('agent').first().waitFor({ state: 'hidden' });
    assert.equal(await chat.composer.inputValue(), 'say Nowhere to go');
    await chat.composer.press('Enter');
    await chat.entries('agent').getByText('Nowhere to go').waitFor();
  });
});
