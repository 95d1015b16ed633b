// Tests the protocol version that an agent is offered with `auto`, and that each of its versions is
// compared once.

import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { at } from '../../../../src/base/untrusted';
import { ProtocolOffers } from '../../../../src/client/transport/protocolOffers';
import { InlineAgent, useInlineAgents } from '../../../support/agents/inlineAgent';

const V2 = { session: { fork: {}, mcp: { http: {} }, prompt: { image: {} } } };

/** Supports both versions, and adds a file and a command in each turn. */
class BothVersions extends InlineAgent {
  override get definition() {
    return { ...super.definition, protocol: 'auto' } as const;
  }

  constructor(inV2: object | undefined, info: object = { name: 'both', version: '1' }) {
    const capabilities = {
      promptCapabilities: { image: true },
      loadSession: true,
      sessionCapabilities: { fork: {} },
      mcpCapabilities: { http: true, sse: false },
    };
    super(capabilities);
    const v1 = { protocolVersion: 1, agentInfo: info, agentCapabilities: capabilities };
    const v2 = inV2 && { protocolVersion: 2, info, capabilities: inV2 };
    this.answers.initialize = (params) => (at(params, 'protocolVersion') === 2 && v2 ? v2 : v1);
    this.answers['session/prompt'] = (_params, _agent, id) => {
      for (const kind of ['edit', 'execute'])
        this.update('s1', {
          sessionUpdate: 'tool_call',
          toolCallId: `${kind} ${String(id)}`,
          title: kind,
          kind,
          status: 'completed',
        });
      return { stopReason: 'end_turn' };
    };
  }

  get offered(): unknown[] {
    return this.received.flatMap(({ method, params }) =>
      method === 'initialize' ? [at(params, 'protocolVersion')] : [],
    );
  }
}

describe('the offered protocol version', () => {
  const open = useInlineAgents();
  const store = () => new Map<string, unknown>();
  const decided = async (offers: ProtocolOffers, agent: InlineAgent): Promise<void> => {
    for (let turns = 0; turns < 500 && offers.choiceOf(agent.definition).why === 'undecided'; turns++) await later(2);
  };

  it('is 2 for later sessions and windows if the agent loses nothing', async () => {
    const agent = new BothVersions(V2);
    const kept = store();
    const offers = new ProtocolOffers(kept);
    const { conversation } = await open(agent, undefined, { offers });
    await conversation.send('work').done;
    await decided(offers, agent);
    assert.deepEqual(offers.choiceOf(agent.definition), { offer: 2, why: 'keeps-all', lost: [] });
    assert.equal(conversation.link?.description.protocol, 1);
    const next = await open(agent, undefined, { offers: new ProtocolOffers(structuredClone(kept)) });
    await next.conversation.start();
    assert.equal(next.conversation.link?.description.protocol, 2);
    assert.deepEqual(agent.offered, [1, 2, 2], 'one start beside, and one for each session');
  });

  const losses: readonly (readonly [string, object, readonly string[]])[] = [
    ['a feature', { session: { ...V2.session, fork: null } }, ['fork']],
    ['a kind of content and MCP over HTTP', { session: { fork: {} } }, ['mcpHttp', 'image']],
    ['sessions', {}, ['load', 'fork', 'mcpHttp', 'image']],
  ];
  for (const [what, inV2, lost] of losses)
    it(`is 1 if version 2 loses ${what}, after one comparison`, async () => {
      const agent = new BothVersions(inV2);
      const offers = new ProtocolOffers();
      const { conversation } = await open(agent, undefined, { offers });
      await conversation.send('work').done;
      await decided(offers, agent);
      assert.deepEqual(offers.choiceOf(agent.definition), { offer: 1, why: 'loses', lost });
      const next = await open(agent, undefined, { offers });
      await next.conversation.send('work').done;
      assert.deepEqual(agent.offered, [1, 2, 1]);
    });

  it('is 1 if the agent supports nothing else', async () => {
    const agent = new BothVersions(undefined);
    const offers = new ProtocolOffers();
    const { conversation } = await open(agent, undefined, { offers });
    await conversation.send('work').done;
    await decided(offers, agent);
    assert.deepEqual(offers.choiceOf(agent.definition), { offer: 1, why: 'only', lost: [] });
    const next = await open(agent, undefined, { offers });
    await next.conversation.send('work').done;
    assert.deepEqual(agent.offered, [1, 2, 1]);
  });

  it('is 1 without a comparison if the agent uses the client’s files', async () => {
    const agent = new BothVersions(V2);
    const work = agent.answers['session/prompt'];
    let cwd = '';
    agent.answers['session/new'] = (params) => {
      cwd = String(at(params, 'cwd'));
      return { sessionId: 's1' };
    };
    agent.answers['session/prompt'] = (params, self, id) => {
      void agent
        .ask(7, 'fs/read_text_file', { sessionId: 's1', path: join(cwd, 'none.txt') })
        .then(() => agent.answer(id, work?.(params, self, id)));
      return undefined;
    };
    const offers = new ProtocolOffers();
    const { conversation } = await open(agent, undefined, { offers });
    await conversation.send('work').done;
    assert.deepEqual(offers.choiceOf(agent.definition), { offer: 1, why: 'loses', lost: ['files'] });
    assert.deepEqual(agent.offered, [1]);
  });

  it('is compared by one session at a time', () => {
    const agent = new BothVersions(V2).definition;
    const offers = new ProtocolOffers();
    offers.learned(agent, 1, '1');
    assert.equal(offers.didAlone(agent, ['files']), false);
    assert.equal(offers.didAlone(agent, ['terminals']), true);
    assert.equal(offers.didAlone(agent, []), false);
    offers.release(agent);
    assert.equal(offers.didAlone(agent, []), true, 'the session was closed before there was an answer');
  });

  it('is chosen again for another version of the agent, or by the user', () => {
    const agent = new BothVersions(V2).definition;
    const offers = new ProtocolOffers();
    offers.learned(agent, 1, '1');
    offers.used(agent, 'terminal/create');
    assert.equal(offers.choiceOf(agent).why, 'loses');
    offers.learned(agent, 1, '2');
    assert.deepEqual(offers.choiceOf(agent), { offer: 1, why: 'undecided', lost: [] });
    assert.deepEqual(offers.choiceOf({ ...agent, protocol: 2 }), { offer: 2, why: 'set', lost: [] });
  });

  it('is the agent’s choice if it refuses the user’s', () => {
    const agent = { ...new BothVersions(V2).definition, protocol: 2 } as const;
    const offers = new ProtocolOffers();
    offers.learned(agent, 1, '1');
    assert.deepEqual(offers.choiceOf(agent), { offer: 1, why: 'only', lost: [] });
    offers.learned(agent, 1, '2');
    assert.equal(offers.choiceOf(agent).offer, 2, 'a newer version may speak it');
  });
});
