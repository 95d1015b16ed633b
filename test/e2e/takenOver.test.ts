// A window that slept while another one went on with its session. Who owns a session stands in the journal: it is changed there, as the other window would change it.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readAgentLog, scriptedAgent } from '../support/agents/definition';
import { goneFrom } from '../support/processes';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';

const scratch = mkdtempSync(join(tmpdir(), 'parley-taken-'));
const log = join(scratch, 'agent.ndjson');

after(() => rmSync(scratch, { recursive: true, force: true }));

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

  function inJournal(sql: string, ...values: (string | number)[]): void {
    const path = join(vscode.server.dataDir, 'data/User/globalStorage/parley.parley/parley.db');
    const file = new DatabaseSync(path);
    try {
      file.exec('PRAGMA busy_timeout = 5000');
      assert.ok(Number(file.prepare(sql).run(...values).changes) > 0);
    } finally {
      file.close();
    }
  }

  it('keeps what is typed, sends nothing against the other one, and takes the session back', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    assert.equal(await chat.run('say From this window'), 'end_turn');
    const agent = readAgentLog(log).findLast(({ ev }) => ev === 'start')?.pid ?? 0;
    // The tests' own process stands for the other window: it lives.
    inJournal(
      "UPDATE leases SET window = 'another', pid = ?, heartbeat = ?, started = NULL, ticks = NULL",
      process.pid,
      Date.now(),
    );

    await chat.send('say Against each other');
    await chat.frame.locator('[data-error-code="session-held"]').waitFor();
    await chat.frame.getByText('Another window has gone on with this session').first().waitFor();
    await goneFrom(agent);
    assert.equal(prompts(), 1, 'two windows do not drive one session');
    assert.equal(await chat.composer.inputValue(), 'say Against each other');
    await chat.entries('agent').getByText('From this window').waitFor();
    await screenshot(page, 'taken-over-dark');
    await chat.button('Take over').click();
    await page.getByText('The other window still has this session.').first().waitFor();

    inJournal('DELETE FROM leases');
    await chat.button('Take over').click();
    await chat.state('idle');
    await chat.entries('agent').getByText('From this window').waitFor();
    assert.equal(await chat.composer.inputValue(), 'say Against each other');
    await chat.composer.press('Enter');
    await chat.entries('agent').getByText('Against each other').waitFor();
    await chat.state('ready');
    assert.equal(prompts(), 2);
  });
});
