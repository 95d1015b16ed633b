// The browser and the extension on two machines, with a bad line between them: it delays, is cut, and is away for a while. Remote windows of the
// desktop (SSH, WSL, containers) use the same connections. `npm run soak -- --cuts 100` cuts the line more often.
import { strict as assert } from 'node:assert';
import { readAgentLog } from '../../support/agents/definition';
import { seeded } from '../../support/store/random';
import { cutTurns } from '../../support/vscode/cutTurns';
import { type FarChat, openFarChat } from '../../support/vscode/overLine';

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
