// Tests replays of sessions with an existing transcript: however they arrive, nothing is shown
// twice or lost.

import { strict as assert } from 'node:assert';
import { V1Agent } from '../../../../src/acp/v1/v1Agent';
import { silentLog } from '../../../../src/base/log';
import { ContextHandoff } from '../../../../src/client/connection/contextHandoff';
import { SessionReplay } from '../../../../src/client/connection/sessionReplay';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pastOf } from '../../../../src/session/model/pastOf';
import type { SessionAgentScript } from '../../../support/agents/sessionScript';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import type { TestConversation } from '../../../support/sessions/conversation';
import { SessionAgents } from '../../../support/sessions/sessionAgents';
import { skipTime } from '../../../support/skipTime';

type Script = SessionAgentScript;

describe('a replayed session', function () {
  this.timeout(30_000);
  let agents: SessionAgents;

  beforeEach(async () => {
    agents = new SessionAgents(await scratchFolder());
  });
  afterEach(async () => {
    const violations = await agents.close();
    await removeScratch();
    assert.deepEqual(violations, []);
  });

  const spoken = (conversation: Conversation): string[] =>
    snapshotOf(conversation).entries.flatMap(({ kind, text, late }) =>
      kind === 'user' || kind === 'agent' ? [`${kind}: ${text}${late ? ' (late)' : ''}`] : [],
    );
  const said = (...texts: readonly string[]): string[] =>
    texts.flatMap((text) => [`user: ${text}`, `agent: Heard ${text}`]);
  const turnsOf = ({ model }: Conversation): string[] =>
    model.state.turns.map(({ id, origin, endedAt }) => `${id} ${origin}${endedAt === undefined ? ' open' : ''}`);

  async function openedAgain(script: Script, elsewhere: readonly string[] = []): Promise<TestConversation> {
    const session = agents.open(script);
    const { conversation } = session;
    for (const text of ['one', 'two']) await conversation.send(text).done;
    const { sessionId } = conversation;
    assert.ok(sessionId !== undefined);
    for (const text of elsewhere) {
      const other = agents.open(script, { opening: { kind: 'reopen', sessionId, transcript: 'replay' } });
      await other.conversation.send(text).done;
      await other.close();
    }
    await conversation.reopen({ kind: 'reopen', sessionId, transcript: 'keep' });
    assert.equal(conversation.connection.kind, 'ready');
    return session;
  }

  const ways: readonly (readonly [string, Script])[] = [
    ['in two bursts long after the answer', { load: true, replay: 'late' }],
    ['only for session/ready', { load: true, ready: true, replay: 'ready' }],
    ['after the answer', { load: true, replay: 'after' }],
    ['for a resume, as it must not be', { offers: ['resume'], resumeReplays: true }],
    ['with the states and the ends of its turns', { load: true, states: true }],
  ];
  for (const [way, script] of ways) {
    it(`is shown once if it arrives ${way}`, async () => {
      const { conversation } = await skipTime(async () => {
        const session = await openedAgain(script);
        const isLate = script.replay === 'late' || script.replay === 'ready';
        if (isLate) await session.until((c) => c.model.state.title === 'repeated');
        return session;
      });
      assert.deepEqual(spoken(conversation), said('one', 'two'));
      await conversation.send('three').done;
      assert.deepEqual(spoken(conversation), said('one', 'two', 'three'));
      assert.deepEqual(turnsOf(conversation), ['t1 user', 't2 user', 't3 user']);
    });
  }

  for (const transcript of ['keep', 'replay'] as const)
    it(`is shown once if it follows session/ready while a message waits (${transcript})`, async () => {
      const script: Script = { load: true, ready: true, replay: 'ready' };
      const first = agents.open(script);
      for (const text of ['one', 'two']) await first.conversation.send(text).done;
      const { sessionId = '' } = first.conversation;
      await first.conversation.suspend();
      const { conversation } =
        transcript === 'keep' ? first : agents.open(script, { opening: { kind: 'reopen', sessionId, transcript } });
      await conversation.send('three').done;
      assert.deepEqual(spoken(conversation), said('one', 'two', 'three'));
    });

  for (const replay of ['before', 'late'] as const) {
    it(`adds messages from elsewhere if it arrives ${replay === 'late' ? 'late' : 'before the answer'}`, async () => {
      const script: Script = { load: true, replay };
      const { conversation, until } = await openedAgain(script, ['elsewhere']);
      await until((c) => spoken(c).length === 6);
      assert.deepEqual(spoken(conversation), said('one', 'two', 'elsewhere'));
      await conversation.send('three').done;
      assert.deepEqual(spoken(conversation), said('one', 'two', 'elsewhere', 'three'));
    });
  }

  for (const transcript of ['keep', 'replay'] as const) {
    it(`is shown as busy if the agent works (${transcript})`, async () => {
      const script: Script = { load: true, worksOn: true };
      const { conversation, until } =
        transcript === 'keep'
          ? await openedAgain(script)
          : agents.open(script, {
              opening: { kind: 'reopen', sessionId: await agents.past(script, 'one', 'two'), transcript },
            });
      await conversation.start();
      assert.equal(conversation.isBusy, true);
      assert.equal(conversation.model.state.turn?.origin, 'agent');
      await until((c) => c.model.state.title === 'worked');
      assert.deepEqual(spoken(conversation), [...said('one', 'two'), 'agent: Still at work']);
    });
  }

  describe('without a request for a replay', () => {
    const update = (sessionUpdate: string, text: string): object => ({
      sessionUpdate,
      content: { type: 'text', text },
    });

    function resumed(
      expected = false,
      compares = true,
    ): { replay: SessionReplay; model: SessionModel; live: unknown[] } {
      const model = new SessionModel();
      model.apply({ type: 'message', role: 'user', messageId: 'u', content: [{ type: 'text', text: 'one' }] }, 0);
      const live: unknown[] = [];
      const unused = { request: async () => ({}), notify: async () => {} };
      const dialect = new V1Agent(unused);
      const targets = { emit: (event: SessionEvent) => model.apply(event, 1), onTurnComplete() {}, onState() {} };
      const replay = new SessionReplay({
        ...{ compares, expected, dialect, log: silentLog },
        asSaid: (event) => [event],
        session: {
          transcript: model.state,
          apply: (event) => model.apply(event, 1),
          updates: (updates, past) => {
            if (past) dialect.readUpdates(updates, { ...targets, log: silentLog });
            else live.push(...updates);
          },
          reportState() {},
          feed() {},
          repeated() {},
        },
      });
      return { replay, model, live };
    }

    it('continues immediately with new updates', () => {
      const { replay, live, model } = resumed();
      replay.receive([update('agent_message_chunk', 'Still here')]);
      assert.deepEqual(live, [], 'nothing is said before the session is open');
      replay.answered();
      replay.receive([update('agent_message_chunk', ' and at work')]);
      assert.equal(live.length, 2);
      assert.equal(model.state.entries.length, 1);
    });

    it('adds missing entries before a prompt is sent, even immediately', () => {
      const { replay, live, model } = resumed(true);
      replay.receive([update('user_message_chunk', 'one'), update('agent_message_chunk', 'Heard one')]);
      replay.answered();
      replay.receive([update('user_message_chunk', 'elsewhere'), update('agent_message_chunk', 'Heard elsewhere')]);
      replay.end();
      assert.deepEqual(live, []);
      assert.deepEqual(pluck(model.state.entries, 'kind'), ['user', 'agent', 'user', 'agent']);
    });

    for (const compares of [true, false])
      it(`ends as soon as the agent says that it is complete${compares ? '' : ', and becomes the transcript'}`, async () => {
        const { replay, live, model } = resumed(true, compares);
        let isQuiet = false;
        const quiet = replay.quiet(new AbortController().signal).then(() => {
          isQuiet = true;
        });
        const state = { sessionUpdate: 'state_update', state: 'running' };
        replay.receive([
          update('user_message_chunk', 'one'),
          update('agent_message_chunk', 'Heard one'),
          { sessionUpdate: 'replay_complete' },
          state,
        ]);
        await Promise.resolve();
        assert.equal(isQuiet, true);
        await quiet;
        const past = ['user', 'agent'];
        assert.deepEqual(pluck(model.state.entries, 'kind'), past, 'shown before the agent has set up the rest');
        replay.receive([update('agent_message_chunk', 'New')]);
        assert.deepEqual(live, [], 'nothing live before the session is open');
        replay.answered();
        assert.deepEqual(live, [state, update('agent_message_chunk', 'New')]);
        assert.deepEqual(pluck(model.state.entries, 'kind'), past);
      });

    it('adds user messages from elsewhere without the transcript that was sent along', () => {
      const { replay, model } = resumed(true);
      const handoff = new ContextHandoff();
      handoff.starting(model.state.entries);
      handoff.ready('s', true, model.state.entries);
      const [block] = handoff.take({ image: false, audio: false, embeddedContext: false }, model.state.entries);
      const along = block?.type === 'text' ? block.text : '';
      assert.match(along, /User: one/);
      replay.receive([update('user_message_chunk', 'one'), update('agent_message_chunk', 'Heard one')]);
      replay.receive([update('user_message_chunk', `two${along}`), update('agent_message_chunk', 'Heard two')]);
      replay.answered();
      replay.end();
      const texts = model.state.entries.map((entry) =>
        'content' in entry ? entry.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : entry.kind,
      );
      assert.deepEqual(texts, ['one', 'Heard one', 'two', 'Heard two']);
    });

    it('begins with the user message after the answer, however the bytes are split', () => {
      const news = update('agent_message_chunk', 'news');
      const past = update('user_message_chunk', 'one');
      for (const pieces of [[[news], [past]], [[news, past]]]) {
        const { replay, live } = resumed();
        replay.answered();
        for (const piece of pieces) replay.receive(piece);
        replay.end();
        assert.deepEqual(live, [news]);
      }
    });
  });

  describe('of a fork', () => {
    for (const forkReplays of [false, true]) {
      it(`has the original messages once if the agent ${forkReplays ? 'replays' : 'does not replay'} them`, async () => {
        const script: Script = { offers: ['fork'], forkReplays };
        const { conversation: origin } = agents.open(script);
        for (const text of ['one', 'two']) await origin.send(text).done;
        const { sessionId = '' } = origin;
        const { conversation } = agents.open(script, { opening: { kind: 'fork', sessionId } });
        conversation.note(pastOf(origin.model.state));
        await conversation.start();
        assert.deepEqual(spoken(conversation), said('one', 'two'));
        const last = snapshotOf(conversation).entries.at(-1);
        assert.equal(last?.kind, 'notice');
        assert.match(String(last?.text), /original session/);
        await conversation.send('three').done;
        assert.deepEqual(spoken(conversation), said('one', 'two', 'three'));
        assert.equal(conversation.model.state.turns.length, 3);
      });
    }
  });
});
