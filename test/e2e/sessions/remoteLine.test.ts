// The browser and the extension on two machines, with a bad line between them: it delays, is cut, and is away, also for longer than the server waits. Remote windows of the
// desktop (SSH, WSL, containers) use the same connections. `npm run soak -- --cuts 100` cuts the line more often.
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { readAgentLog } from '../../support/agents/definition';
import { seeded } from '../../support/store/random';
import { Chat } from '../../support/vscode/chat';
import { cutTurns } from '../../support/vscode/cutTurns';
import { panelIsKept, tabIsKept, turnIsKept } from '../../support/vscode/keptState';
import { openWindow, screenshot, type Window } from '../../support/vscode/openWindow';
import { type FarChat, openFarChat } from '../../support/vscode/overLine';
import { descendants, isAlive } from '../../support/vscode/processTree';
import { inList } from '../../support/vscode/workbench';

/** The messages that the agent got. */
const prompts = (log: string): readonly string[] =>
  readAgentLog(log)
    .filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt')
    .map(({ msg }) => JSON.stringify(msg));

/** The extension hosts of the windows that the server has, by process id. */
const hosts = ({ server }: FarChat): readonly number[] =>
  descendants(server.pid).flatMap(({ pid, command }) => (command.includes('--type=extensionHost') ? [pid] : []));

/**
 * Leaves the first window. Its page may be gone before its farewell is on the line: the server would then keep its extension host for hours, so that one is told to end.
 */
async function leave({ window, server }: FarChat, host: number): Promise<void> {
  await window.page.goto('about:blank');
  for (let left = 200; left > 0 && isAlive(host); left--) await sleep(50);
  if (isAlive(host)) process.kill(host, 'SIGTERM');
  while (descendants(server.pid).some(({ pid }) => pid === host)) await sleep(50);
}

describe('a window over a bad line', () => {
  let far: FarChat;

  before('open the chat', async function () {
    this.timeout(180_000);
    far = await openFarChat(1);
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await far?.end();
  });

  it('loses nothing and sends nothing twice when the line is cut while messages are sent and answered', async () => {
    const result = await cutTurns(far.chat, far.line, 6, far.log, seeded(2));
    assert.deepEqual(result, { cuts: 6, typed: 2, received: 2, lost: 0, twice: 0, wrong: 0 });
  });

  it('gets what came while the browser was away, in less than was said', async () => {
    const { chat, line, log } = far;
    const ends = (): number =>
      readAgentLog(log).filter(({ dir, msg }) => dir === 'out' && JSON.stringify(msg).includes('"stopReason"')).length;
    await chat.newSession();
    await chat.send('flood 20000 8000 far');
    await chat.state('running');
    const [before, ended] = [line.received, ends()];
    line.down();
    while (ends() === ended) await sleep(50);
    await line.up();
    assert.equal(await chat.turnEnd(60_000), 'end_turn');
    assert.match(await chat.copyTurn(), /END-OF-FLOOD-far$/);
    // A message for each of the 20,000 pieces would have 150 bytes and more.
    assert.ok(line.received - before < 1_500_000, `${line.received - before} bytes`);
  });
});

describe('two browsers on one folder', () => {
  let far: FarChat;
  let second: Window | undefined;

  before('open the chat', async function () {
    this.timeout(180_000);
    far = await openFarChat(3);
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await second?.close();
    await far?.end();
  });

  it('have sessions of their own, and the second continues one of the first when that is closed', async function () {
    this.timeout(120_000);
    assert.equal(await far.chat.run('say From the first'), 'end_turn');
    const [host = assert.fail('there is no window')] = hosts(far);
    second = await openWindow({ ...far.server, url: far.url });
    const { page } = second;
    const own = await Chat.open(page);
    await own.newSession();
    assert.equal(await own.run('say From the second'), 'end_turn');
    assert.equal(await far.chat.run('say Again'), 'end_turn');
    assert.deepEqual(await far.chat.entries('user').allInnerTexts(), ['say From the first', 'say Again']);
    await turnIsKept(far.server, 'Again');

    await inList(page, 'Parley: Sessions', async (list, patience) => {
      await list.locator('input.input').fill('From the first', patience);
      await list.locator('.monaco-list-row', { hasText: 'From the first' }).first().click(patience);
    });
    await own.entries('agent').getByText('Again').waitFor();
    await own.composer.fill('say Taken over');
    await own.button('Take over').click();
    await page.getByText('This session is still open in the other window.').first().waitFor();
    await screenshot(page, 'remote-two-browsers');
    await leave(far, host);
    await own.button('Take over').click();
    await own.state('idle');
    await own.composer.press('Enter');
    await own.entries('agent').getByText('Taken over').waitFor();
    for (const text of ['From the first', 'From the second', 'Again', 'Taken over'])
      assert.equal(prompts(far.log).filter((prompt) => prompt.includes(`say ${text}"`)).length, 1, text);
  });
});

describe('a window whose line is away for longer than the server waits', () => {
  let far: FarChat;

  before('open the chat', async function () {
    this.timeout(180_000);
    far = await openFarChat(1, { graceSeconds: 1 });
  });

  after('end VS Code', async function () {
    this.timeout(60_000);
    await far?.end();
  });

  it('has the session again after the reload that VS Code asks for, and sends what was written meanwhile once', async () => {
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
