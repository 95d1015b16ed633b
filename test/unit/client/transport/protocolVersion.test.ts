// Which version of the protocol is spoken with an agent.
import { strict as assert } from 'node:assert';
import { ProtocolOffers } from '../../../../src/client/transport/protocolOffers';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { readAgentLog } from '../../../support/agents/definition';
import { useV2Session } from '../conversation/v2Session';

describe('v2 lifecycle', function () {
  this.timeout(20_000);
  const { session, open } = useV2Session();

  describe('the version', () => {
    const offered = (): unknown[] =>
      readAgentLog(session.agentLog).flatMap(({ dir, msg }) =>
        dir === 'in' && msg?.method === 'initialize'
          ? [(msg.params as { protocolVersion: number }).protocolVersion]
          : [],
      );

    it('is 1 unless the user says otherwise', async () => {
      const conversation = open({ versions: [1, 2] }, { protocol: 'auto' });
      await conversation.start();
      assert.deepEqual(offered(), [1]);
      assert.equal(snapshotOf(conversation).protocol, 1);
    });

    it('is 2 where the user wants it and the agent speaks it', async () => {
      const conversation = open({ versions: [1, 2] });
      await conversation.start();
      assert.deepEqual(offered(), [2]);
      assert.equal(snapshotOf(conversation).protocol, 2);
    });

    it('falls back to 1 with all that the client can do, and the window remembers that', async () => {
      const offers = new ProtocolOffers();
      const conversation = open({ versions: [1] }, { services: { offers } });
      await conversation.start();
      assert.equal(snapshotOf(conversation).protocol, 1);
      assert.deepEqual(offered(), [2, 1]);
      await conversation.restart();
      assert.deepEqual(offered(), [2, 1, 1]);
    });

    it('becomes 2 where the agent speaks nothing else', async () => {
      const conversation = open({ versions: [2] }, { protocol: 'auto' });
      await conversation.send('hello').done;
      assert.deepEqual(offered(), [1, 2]);
      assert.equal(snapshotOf(conversation).protocol, 2);
    });

    it('is named where there is none in common', async () => {
      const conversation = open({ versions: [3, 4] });
      await conversation.start();
      const { connection } = conversation;
      assert.equal(connection.kind === 'failed' && connection.error.code, 'protocol-version');
      assert.match(connection.kind === 'failed' ? connection.error.message : '', /versions 3, 4/);
    });
  });
});
