// The browser and the extension on two machines, with a bad line between them: it delays, is cut,
// and is away, also for longer than the server waits. Remote windows of the desktop (SSH, WSL,
// containers) use the same connections. `npm run soak -- --cuts 100` cuts the line more often.
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAgentLog } from '../../support/agents/definition';
import { seeded } from '../../support/store/random';
import { Chat } from '../../support/vscode/chat';
import { cutTurns } from '../../support/vscode/cutTurns';
import { panelIsKept, tabIsKept } from '../../support/vscode/keptState';
import { screenshot } from '../../support/vscode/openWindow';
import { type FarChat, openFarChat } from '../../support/vscode/overLine';
import { descendants } from '../../support/vscode/processTree';

/** The messages that the agent got. */
const prompts = (log: string): readonly string[] =>
  readAgentLog(log)
    .filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt')
    .map(({ msg }) => JSON.stringify(msg));

/** The extension hosts of the windows that the server has, by process id. */
const hosts = ({ server }: FarChat): readonly number[] =>
  descendants(server.pid).flatMap(({ pid, command }) => (command.includes('--type=extensionHost') ? [pid] : []));

describe('a window on a bad connection', () => {
  let far: FarChat;

  before('open the chat', async function () {
    this.timeout(180_000);
    far = await openFarChat(1);
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await far?.end();
  });

  it('loses nothing and sends nothing twice when the connection breaks during a turn', async () => {
    const result = await cutTurns(far.chat, far.line, 6, far.log, seeded(2));
    assert.deepEqual(result, { cuts: 6, typed: 2, received: 2, lost: 0, twice: 0, wrong: 0 });
  });
});

describe('a window disconnected for longer than the server waits', () => {
  let far: FarChat;

  before('open the chat', async function () {
    this.timeout(180_000);
    far = await openFarChat(1, { graceSeconds: 1 });
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await far?.end();
  });

  it('has the session after the reload that VS Code asks for, and sends later messages once', async () => {
    const { chat, line, log, window } = far;
    const { page } = window;
    assert.equal(await chat.run('say Before'), 'end_turn');
    await tabIsKept(page);
    line.down();
    await chat.send('say Meanwhile');
    while (hosts(far).length > 0) await sleep(50);
    await panelIsKept(page, 'say Meanwhile');
    const reload = page.getByRole('dialog').getByRole('button', { name: 'Reload Window' });
    await reload.waitFor();
    await screenshot(page, 'remote-away');
    void line.up();
    await reload.click();
    await reload.waitFor({ state: 'detached' });
    const again = await Chat.at(page, 'panel');
    await again.entries('agent').getByText('Before').waitFor();
    assert.equal(await again.composer.inputValue(), 'say Meanwhile');
    await screenshot(page, 'remote-back');
    await again.composer.press('Enter');
    await again.entries('agent').getByText('Meanwhile').waitFor();
    assert.equal(prompts(log).filter((prompt) => prompt.includes('Meanwhile')).length, 1);
    assert.equal(await again.entries('user').getByText('say Meanwhile').count(), 1);
  });
});
