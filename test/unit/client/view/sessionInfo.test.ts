// The details of a session.
import { strict as assert } from 'node:assert';
import { required } from '../../../../src/acp/protocol/dialect';
import type { Instructions } from '../../../../src/client/ports/ports';
import { ProtocolOffers } from '../../../../src/client/transport/protocolOffers';
import { type InfoRow, sessionInfo } from '../../../../src/client/view/sessionInfo';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { ChoosySession } from '../../../support/sessions/choosySession';

describe('session info', () => {
  let folder: string;
  let session: ChoosySession;

  beforeEach(async () => {
    folder = await scratchFolder();
    session = new ChoosySession(folder);
  });
  afterEach(async () => {
    await session.close();
    await removeScratch();
  });

  const rows = (): readonly string[] =>
    sessionInfo(session.conversation).map(({ label, value }: InfoRow) => `${label}: ${value}`);

  it('shows the running agent with its version, the protocol and the folder', async () => {
    session.open();
    assert.deepEqual(rows(), ['choosy: Not running', `Folder: ${folder}`]);
    await session.conversation.start();
    assert.deepEqual(rows(), ['choosy: choosy 1', 'Protocol: version 1', `Folder: ${folder}`]);
  });

  it('shows why the session uses its version of the protocol', async () => {
    const offers = new ProtocolOffers();
    session.open({ services: { offers } });
    await session.conversation.start();
    const { agent, link } = session.conversation;
    const why = () => sessionInfo(session.conversation).find(({ label }) => label === 'Protocol')?.detail;
    assert.match(why() ?? '', /hasn't been compared/);
    const description = required(link).description;
    offers.compared(agent, description, { ...description, protocol: 2 }, []);
    assert.equal(why(), 'Version 2 from the next start on');
    offers.compared(agent, description, { ...description, protocol: 2 }, ['modes', 'steering']);
    assert.equal(why(), 'Missing in version 2 (Preview): modes, steering');
    offers.compared(agent, description, description, []);
    assert.equal(why(), 'The agent supports only this version');
  });

  describe('about the system prompt', () => {
    let instructions: readonly Instructions[];
    beforeEach(() => {
      instructions = [{ text: 'Be\n brief.' }, { text: 'Use tabs.', file: '/p/settings.json', isCut: true }];
      session.agent.manner = { offers: { systemPrompt: {} } };
    });
    const open = async (): Promise<void> => {
      session.open({ services: { systemPrompt: () => instructions } });
      await session.conversation.start();
    };
    const shown = (): readonly string[] => rows().filter((row) => row.startsWith('System prompt'));

    it('shows what the session received and where it was set, not the current setting', async () => {
      await open();
      instructions = [];
      assert.deepEqual(shown(), [
        'System prompt: from your settings',
        'System prompt: /p/settings.json, cut to 9 characters',
      ]);
      assert.equal(sessionInfo(session.conversation).at(-2)?.detail, 'Be brief.');
    });

    it('says once that the agent does not support one', async () => {
      session.agent.manner = {};
      await open();
      assert.deepEqual(shown(), ['System prompt: not supported by the agent']);
    });

    it('says nothing if there is none', async () => {
      instructions = [];
      await open();
      assert.deepEqual(shown(), []);
    });
  });
});
