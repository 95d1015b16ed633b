// How agent and client advertise proposals in `initialize`.
import { strict as assert } from 'node:assert';
import { initialize } from '../../../../src/acp/initialize';
import { PROPOSED_CAPABILITIES, type ProposedCapability } from '../../../../src/acp/proposals/announced';
import { at } from '../../../../src/base/untrusted';
import { officialSchema } from '../../../support/protocol/officialSchema';

const NAMES = Object.keys(PROPOSED_CAPABILITIES) as ProposedCapability[];
describe('the proposals advertised by the client', () => {
  async function params(offer: 1 | 2, state = false): Promise<unknown> {
    let sent: unknown;
    const request = async (_method: string, given: unknown): Promise<unknown> => {
      sent = given;
      return { protocolVersion: offer };
    };
    await initialize(
      { request, notify: async () => {} },
      {
        client: { name: 'parley', title: 'Parley', version: '0' },
        capabilities: { files: false, terminals: false, state },
        offer,
      },
      new AbortController().signal,
    );
    return sent;
  }

  it('are in _meta of the capabilities of both versions', async () => {
    const both = await params(2);
    for (const name of NAMES) {
      assert.deepEqual(at(await params(1), 'clientCapabilities', '_meta', PROPOSED_CAPABILITIES[name]), {});
      assert.deepEqual(at(both, 'capabilities', '_meta', PROPOSED_CAPABILITIES[name]), {});
    }
  });

  it('announce the usable parts of the prompt lifecycle to agents of version 1', async () => {
    const lifecycle = { receipt: {}, state_update: {}, state_change: {}, user_message: {}, agent_message: {} };
    assert.deepEqual(at(await params(1), 'clientCapabilities', '_meta', 'prompt_lifecycle'), lifecycle);
    assert.equal(at(await params(2), 'capabilities', '_meta', 'prompt_lifecycle'), undefined);
  });

  it('are valid in both schemas, next to the state of an agent', async () => {
    for (const offer of [1, 2] as const) {
      const sent = await params(offer, true);
      for (const side of offer === 1 ? ['clientCapabilities'] : ['clientCapabilities', 'capabilities'])
        assert.equal(at(sent, side, '_meta', 'parley/state', 'version'), 1);
      for (const schema of ['v1', 'v2'] as const)
        if (schema === 'v1' || offer === 2)
          assert.equal(officialSchema(schema).misfit('InitializeRequest', sent), undefined);
    }
  });
});
