// Tests joining a session of a remote agent whose sessions outlive their connections.
import { strict as assert } from 'node:assert';
import { SessionOps } from '../../../../src/client/conversation/sessionOps';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { DurableAgent, type DurableOptions, type DurableSession } from '../../../support/servers/durableAgent';
import { parseAgent, spokenIn, type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('a session that is opened to be joined', () => {
  let agent: DurableAgent;
  const clients: TestConversation[] = [];

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await agent.close();
    await removeScratch();
  });

  async function client(sessionId?: string): Promise<TestConversation> {
    const made = testConversation({
      agent: parseAgent({ name: 'Far', url: agent.url }, 'far'),
      cwd: await scratchFolder(),
      key: `client ${clients.length}`,
      ...(sessionId !== undefined && {
        opening: { kind: 'reopen', sessionId, transcript: 'replay', joins: true } as const,
      }),
    });
    clients.push(made);
    return made;
  }

  async function begin(options: DurableOptions): Promise<DurableSession> {
    agent = await DurableAgent.start(options);
    agent.onTurn = (session, text) => {
      agent.say(session, `Heard ${text}`);
      if (text !== 'long') agent.end(session, 'end_turn');
    };
    await (await client()).conversation.send('one').done;
    agent.received.splice(0);
    return agent.only;
  }

  const spoken = ({ conversation }: TestConversation): string[] => spokenIn(conversation);
  const notices = ({ conversation }: TestConversation): string[] =>
    snapshotOf(conversation).entries.flatMap(({ kind, text }) => (kind === 'notice' ? [text ?? ''] : []));
  const opening = (): string[] => agent.received.filter((method) => /session\/(new|load|resume)/.test(method));

  const cases: readonly [title: string, options: DurableOptions, methods: readonly string[]][] = [
    [
      'is resumed where it is live, although it could be loaded',
      { status: 'live', load: true, resume: true },
      ['session/resume'],
    ],
    ['is used as it is where it is live and cannot be resumed', { status: 'live', load: true }, []],
    ['is used as it is where the agent can only tell its status', { status: 'live' }, []],
    ['is resumed where it is open', { status: 'open', load: true, resume: true }, ['session/resume']],
    [
      'is loaded where it is open and cannot be resumed: that word promises less',
      { status: 'open', load: true },
      ['session/load'],
    ],
    ['is loaded where it is saved', { status: 'saved', load: true, resume: true }, ['session/load']],
    ['is loaded where the agent does not have it in memory', { status: 'not_found', load: true }, ['session/load']],
    ['is loaded where the agent does not offer session/status', { load: true, resume: true }, ['session/load']],
    [
      'is loaded where the agent refuses to resume it',
      { status: 'live', load: true, resume: true, refusesResume: true },
      ['session/resume', 'session/load'],
    ],
  ];
  for (const [title, options, methods] of cases)
    it(title, async () => {
      const { id } = await begin(options);
      const second = await client(id);
      await second.conversation.start();
      assert.deepEqual(opening(), methods);
      const isLoaded = methods.includes('session/load');
      assert.equal(notices(second).length, isLoaded ? 0 : 1);
      await second.conversation.send('two').done;
      const past = ['user: one', 'agent: Heard one'];
      assert.deepEqual(spoken(second), [...(isLoaded ? past : []), 'user: two', 'agent: Heard two']);
      assert.equal(agent.only.prompts.length, 2);
    });

  it('is shown as busy while the agent works for another client', async () => {
    const session = await begin({ status: 'states', resume: true, turnComplete: true });
    clients[0]?.conversation.send('long').done.catch(() => {});
    await agent.until(() => session.prompts.length === 2);
    const second = await client(session.id);
    await second.conversation.start();
    assert.ok(second.conversation.isBusy);
  });

  it('is asked about without an effect on the asking session', async () => {
    const session = await begin({ status: 'saved', load: true });
    const { conversation } = clients[0] as TestConversation;
    const before = JSON.stringify(snapshotOf(conversation));
    const { signal } = new AbortController();
    assert.ok(conversation.ops instanceof SessionOps && conversation.ops.can('status'));
    assert.equal(await conversation.ops.status(session.id, signal), 'saved');
    assert.equal(await conversation.ops.status('nobody', signal), 'not_found');
    assert.equal(JSON.stringify(snapshotOf(conversation)), before);
    assert.deepEqual(agent.received, ['session/status', 'session/status']);
  });
});
