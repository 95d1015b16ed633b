// The browser and the extension on two machines, with a bad line between them: it delays, is cut, and is away for longer than the server waits. Remote windows of the
// desktop (SSH, WSL, containers) use the same connections. `npm run soak -- --cuts 100` cuts the line more often.
import { strict as assert } from 'node:assert';
import { readAgentLog } from '../../support/agents/definition';
import { seeded } from '../../support/store/random';
import { Chat } from '../../support/vscode/chat';
import { cutTurns } from '../../support/vscode/cutTurns';
import { type FarChat, openFarChat } from '../../support/vscode/overLine';
import { descendants } from '../../support/vscode/processTree';

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
    while (ends() === ended) await new Promise((resolve) => setTimeout(resolve, 50));
    await line.up();
    assert.equal(await chat.turnEnd(60_000), 'end_turn');
    assert.match(await chat.copyTurn(), /END-OF-FLOOD-far$/);
    // A message for each of the 20,000 pieces would have 150 bytes and more.
    assert.ok(line.received - before < 1_500_000, `${line.received - before} bytes`);
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

  it('has the session again after a reload, and the message that was sent meanwhile once', async () => {
    const { chat, line, log, server, window } = far;
    assert.equal(await chat.run('say Before'), 'end_turn');
    line.down();
    await chat.send('say Meanwhile');
    const hosts = (): number =>
      descendants(server.pid).filter(({ command }) => command.includes('--type=extensionHost')).length;
    while (hosts() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    void line.up();
    await window.page.reload();
    const again = await Chat.at(window.page, 'panel');
    await again.entries('agent').getByText('Before').waitFor();
    await again.composer.press('Enter');
    await again.entries('agent').getByText('Meanwhile').waitFor();
    const prompts = readAgentLog(log).filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt');
    assert.equal(prompts.filter(({ msg }) => JSON.stringify(msg).includes('Meanwhile')).length, 1);
    assert.equal(await again.entries('user').getByText('say Meanwhile').count(), 1);
  });
});
