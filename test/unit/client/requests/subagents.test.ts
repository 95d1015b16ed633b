// Plans by id and the sessions that an agent runs for ours, with real agent processes: states,
// messages between them, and their questions.
import { strict as assert } from 'node:assert';
import { basename, join } from 'node:path';
import { projectItem } from '../../../../src/client/view/projectItem';
import { askerOf, backgroundOf } from '../../../../src/client/view/projectRequests';
import type { ItemView } from '../../../../src/panel/contract';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import { InlineAgent, useInlineAgents } from '../../../support/agents/inlineAgent';
import { sameData } from '../../../support/sameData';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';

describe('plans by id and subagents', function () {
  this.timeout(30_000);
  let session: TestConversation;
  let agentLog: string;

  beforeEach(async () => {
    const cwd = await scratchFolder();
    agentLog = join(cwd, '..', `${basename(cwd)}.agent.ndjson`);
    const agent = parseAgent(scriptedAgent('plain', agentLog), 'scripted');
    session = testConversation({ agent, cwd });
  });
  afterEach(async () => {
    await session.close();
    assert.deepEqual(
      readAgentLog(agentLog).filter(({ ev }) => ev === 'violation'),
      [],
    );
    await removeScratch();
  });

  const items = (): ItemView[] => {
    const { model } = session.conversation;
    const context = { state: model.state, turn: () => undefined, roots: [], isOpenable: () => false };
    return model.state.entries.map((entry) => projectItem(entry, context));
  };
  const play = (...updates: readonly object[]) =>
    session.conversation.send(updates.map((update) => `update ${JSON.stringify(update)}`).join('\n')).done;
  const ofChild = (sessionId: string, update: object): string =>
    `notify session/update ${JSON.stringify({ sessionId, update })}`;
  const subagents = () => items().filter((item) => item.kind === 'tool' && item.toolKind === 'subagent');
  const states = () => subagents().map((item) => item.kind === 'tool' && [item.title, item.status]);
  const textOf = (item: ItemView | undefined): string =>
    item?.kind === 'tool'
      ? item.content
          .map((part) => (part.type === 'content' && part.block.type === 'text' ? part.block.text : ''))
          .join('\n')
      : '';

  it('show several plans, each of its kind', async () => {
    await play(
      {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: 'a', entries: [{ content: 'One', priority: 'high', status: 'cancelled' }, 7] },
      },
      { sessionUpdate: 'plan_update', plan: { type: 'markdown', planId: 'b', content: '# Two' } },
      { sessionUpdate: 'plan_update', plan: { type: 'markdown', planId: 'd', content: '# Four', path: '/plans/4.md' } },
      { sessionUpdate: 'plan_update', plan: { type: 'file', planId: 'c', uri: 'file:///plan.md' } },
      {
        sessionUpdate: 'plan_update',
        plan: { type: 'items', planId: 'b', entries: [{ content: 'Two', priority: 'low', status: 'pending' }] },
      },
      { sessionUpdate: 'plan_removed', planId: 'c' },
      { sessionUpdate: 'plan_removed', planId: 'nobody' },
    );
    const plans = items().flatMap((item) => (item.kind === 'plan' ? [item] : []));
    assert.deepEqual(
      plans.map(({ entries, markdown, uri, removed }) => ({
        entries: entries.map(({ content, status }) => `${status} ${content}`),
        markdown,
        uri,
        removed,
      })),
      [
        { entries: ['cancelled One'], markdown: undefined, uri: undefined, removed: undefined },
        { entries: ['pending Two'], markdown: undefined, uri: undefined, removed: undefined },
        { entries: [], markdown: '# Four', uri: '/plans/4.md', removed: undefined },
        { entries: [], markdown: undefined, uri: 'file:///plan.md', removed: true },
      ],
    );
  });

  it('show a subagent’s title, its state, and when it resumes', async () => {
    await play({
      sessionUpdate: 'subagent_update',
      sessionId: 'child',
      title: 'Look for tests',
      description: 'A searcher',
      state: { state: 'running' },
    });
    assert.deepEqual(states(), [['Look for tests', 'in_progress']]);
    await play({
      sessionUpdate: 'subagent_update',
      sessionId: 'child',
      state: { state: 'idle', stopReason: 'end_turn' },
    });
    assert.deepEqual(states(), [['Look for tests', 'completed']]);
    await play({ sessionUpdate: 'subagent_update', sessionId: 'child', title: null, state: { state: 'dreaming' } });
    assert.deepEqual(states(), [['Subagent child', 'in_progress']]);
  });

  it('join messages between sessions that arrive in pieces and out of order', async () => {
    const chunk = (text: string) => ({
      sessionUpdate: 'session_message_chunk',
      messageId: 'm',
      content: { type: 'text', text },
    });
    await play(
      { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'C' },
      chunk('look '),
      { sessionUpdate: 'session_message', messageId: 'm', senderSessionId: null, recipientSessionId: 'child' },
      chunk('here'),
      {
        sessionUpdate: 'session_message',
        messageId: 'n',
        senderSessionId: 'child',
        content: [{ type: 'text', text: 'found' }],
      },
    );
    assert.match(textOf(subagents()[0]), /\*\*It is told:\*\* look here\n\*\*It says:\*\* found/);
  });

  it('show a message once if both transcripts contain it', async () => {
    const message = (more: object): object => ({
      sessionUpdate: 'session_message',
      senderSessionId: null,
      recipientSessionId: 'child',
      ...more,
    });
    const content = (text: string) => [{ type: 'text', text }];
    await session.conversation.send(
      [
        { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'C' },
        message({ messageId: 'm', recipientMessageId: 'm', content: content('look here') }),
        message({ messageId: 'n', content: content('then there') }),
      ]
        .map((update) => `update ${JSON.stringify(update)}`)
        .concat(
          ofChild('child', message({ messageId: 'm', senderMessageId: 'm', content: content('look here') })),
          ofChild('child', message({ messageId: 'x', senderMessageId: 'n', content: content('then there') })),
        )
        .join('\n'),
    ).done;
    assert.equal(textOf(subagents()[0]), '**It is told:** look here\n**It is told:** then there');
  });

  it('show a subagent and its folder under the call that names its session', async () => {
    const folders = { cwd: '/work/other', additionalDirectories: ['/work/more'] };
    await play(
      { sessionUpdate: 'tool_call', toolCallId: '1', title: 'Delegate' },
      { sessionUpdate: 'subagent_update', sessionId: 'a', title: 'First', ...folders },
      { sessionUpdate: 'subagent_update', sessionId: 'a', additionalDirectories: null },
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: '1',
        content: [
          { type: 'session', sessionId: 'a' },
          { type: 'content', content: { type: 'text', text: 'Under way' } },
        ],
      },
    );
    const [, call, child] = items();
    assert.ok(call?.kind === 'tool' && child?.kind === 'tool');
    assert.deepEqual([textOf(call), call.nested?.calls, child.path], ['Under way', 1, [1]]);
    const entry = session.conversation.model.state.entries[2];
    assert.deepEqual(entry?.kind === 'tool' && entry.rawInput, { cwd: '/work/other' });
  });

  it('show what a subagent says, and answer its requests', async () => {
    const turn = session.conversation.send(
      [
        ofChild('child', { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'too early, ' } }),
        `update ${JSON.stringify({ sessionUpdate: 'subagent_update', sessionId: 'child', title: 'C' })}`,
        ofChild('child', { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'but heard' } }),
        `request session/request_permission ${JSON.stringify({ sessionId: 'child', toolCall: { toolCallId: 'x', title: 'rm out' }, options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] })}`,
      ].join('\n'),
    );
    await session.until((c) => c.model.state.permissions.size === 1);
    assert.match(textOf(subagents()[0]), /too early, but heard/);
    const [id = ''] = session.conversation.model.state.permissions.keys();
    session.conversation.answerPermission(id, 'y');
    await turn.done;
    assert.ok(items().some((item) => item.kind === 'agent' && JSON.stringify(item).includes('selected')));
  });

  it('show calls under their subagent, and say which subagent asks', async () => {
    const call = (title: string): object => ({ sessionUpdate: 'tool_call', toolCallId: '1', title, status: 'pending' });
    const asks = { toolCallId: '1', title: 'rm out' };
    const turn = session.conversation.send(
      [
        `update ${JSON.stringify({ sessionUpdate: 'tool_call', toolCallId: '1', title: 'Own' })}`,
        `update ${JSON.stringify({ sessionUpdate: 'subagent_update', sessionId: 'a', title: 'First' })}`,
        `update ${JSON.stringify({ sessionUpdate: 'subagent_update', sessionId: 'b', title: 'Second' })}`,
        ofChild('a', call('Read x')),
        ofChild('b', call('Read y')),
        ofChild('b', { sessionUpdate: 'subagent_update', sessionId: 'c', title: 'Deeper' }),
        ofChild('c', call('Read z')),
        `request session/request_permission ${JSON.stringify({ sessionId: 'b', toolCall: asks, options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] })}`,
      ].join('\n'),
    );
    await session.until((c) => c.model.state.permissions.size === 1);
    const { model } = session.conversation;
    const [asked] = model.state.permissions.values();
    assert.equal(asked && askerOf(model, asked), 'Second');
    session.conversation.answerPermission(asked?.id ?? '', 'y');
    await turn.done;
    const titles = items().map((item) => (item.kind === 'tool' ? item.title : ''));
    assert.deepEqual(
      items().flatMap((item) =>
        item.kind === 'tool' ? [[...(item.path ?? []).map((index) => titles[index]), item.title].join(' / ')] : [],
      ),
      ['Own', 'First', 'Second', 'First / Read x', 'Second / rm out', 'Second / Deeper', 'Second / Deeper / Read z'],
    );
    assert.deepEqual(
      subagents().map((item) => item.kind === 'tool' && item.nested?.calls),
      [1, 3, 1],
    );
  });

  it('follow the newest subagents, however many came before', async () => {
    const announce = (n: number): object => ({
      sessionUpdate: 'subagent_update',
      sessionId: `child ${n}`,
      title: `C${n}`,
      state: { state: 'idle' },
    });
    await play(...Array.from({ length: 250 }, (_, n) => announce(n)));
    assert.equal(subagents().length, 250);
    const turn = session.conversation.send(
      `request session/request_permission ${JSON.stringify({ sessionId: 'child 249', toolCall: { toolCallId: 'x', title: 'ls' }, options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] })}`,
    );
    await session.until((c) => c.model.state.permissions.size === 1);
    const [id = ''] = session.conversation.model.state.permissions.keys();
    session.conversation.answerPermission(id, 'y');
    await turn.done;
  });

  it('refuse requests for a session that was not announced', async () => {
    await session.conversation.send(
      'request session/request_permission {"sessionId":"stranger","toolCall":{"toolCallId":"x"},"options":[]}',
    ).done;
    assert.ok(items().some((item) => item.kind === 'agent' && JSON.stringify(item).includes('-32002')));
  });

  it('end the subagents of an agent that has exited', async () => {
    await play({ sessionUpdate: 'subagent_update', sessionId: 'child', title: 'C', state: { state: 'running' } });
    await session.conversation.send('die 3').done;
    await session.until((c) => c.connection.kind === 'exited');
    assert.deepEqual(states(), [['C', 'cancelled']]);
  });

  describe('a subagent that may be stopped', () => {
    const announced = (more: object) => ({
      sessionUpdate: 'subagent_update',
      sessionId: 'child',
      title: 'C',
      state: { state: 'running' },
      ...more,
    });
    const stops = () => subagents().map((item) => item.kind === 'tool' && item.stop);

    it('offers its Stop while it works and the agent permits it', async () => {
      await play(announced({}));
      assert.deepEqual(stops(), [undefined]);
      await play(announced({ capabilities: { cancel: {} } }));
      const { conversation } = session;
      conversation.note([{ at: 0, event: { type: 'background', work: [{ type: 'subagent', id: 'child' }] } }]);
      assert.deepEqual(stops(), [{ kind: 'subagent', id: 'child' }]);
      assert.deepEqual(backgroundOf(conversation), [{ kind: 'subagent', id: 'child', label: 'C', stop: 'subagent' }]);
      await play(announced({ state: { state: 'idle' } }));
      assert.deepEqual(stops(), [undefined]);
      await play(announced({ capabilities: null }));
      assert.deepEqual(stops(), [undefined]);
    });

    it('is stopped by session/cancel with its id, which withdraws its question', async () => {
      const turn = session.conversation.send(
        [
          `update ${JSON.stringify(announced({ capabilities: { cancel: {} } }))}`,
          `request session/request_permission ${JSON.stringify({ sessionId: 'child', toolCall: { toolCallId: 'x', title: 'rm out' }, options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }] })}`,
        ].join('\n'),
      );
      await session.until((c) => c.model.state.permissions.size === 1);
      await session.conversation.stopOne({ kind: 'subagent', id: 'stranger' });
      await session.conversation.stopOne({ kind: 'subagent', id: 'child' });
      await turn.done;
      assert.equal(session.conversation.model.state.permissions.size, 0);
      assert.equal(session.conversation.model.state.turns.at(-1)?.stopReason, 'end_turn');
      assert.ok(items().some((item) => item.kind === 'agent' && JSON.stringify(item).includes('cancelled')));
      const cancels = readAgentLog(agentLog).flatMap(({ dir, msg }) =>
        dir === 'in' && msg?.method === 'session/cancel' ? [msg.params] : [],
      );
      assert.deepEqual(cancels, [{ sessionId: 'child' }]);
    });
  });

  it('is named by its title as background work, with Stop only if it can be stopped', async () => {
    await play(
      { sessionUpdate: 'tool_call', toolCallId: 'w', title: 'A watcher', status: 'in_progress' },
      { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'A searcher' },
    );
    const { conversation } = session;
    conversation.note([
      { at: 0, event: { type: 'terminal', terminalId: 't', command: 'npm run watch', canCancel: true } },
    ]);
    const work = [
      { type: 'tool_call', id: 'w' },
      { type: 'terminal', id: 't' },
      { type: 'subagent', id: 'child' },
      { type: '_cron', id: 'z' },
    ];
    conversation.note([{ at: 0, event: { type: 'background', work } }]);
    sameData(backgroundOf(session.conversation), [
      { kind: 'tool_call', id: 'w', label: 'A watcher' },
      { kind: 'terminal', id: 't', label: 'npm run watch', stop: 'terminal' },
      { kind: 'subagent', id: 'child', label: 'A searcher' },
      { kind: '_cron', id: 'z', label: 'z' },
    ]);
  });
});

describe('a subagent in version 2', () => {
  const open = useInlineAgents();

  it('is never our own session, even if the agent says so', async () => {
    const agent = new InlineAgent({ session: {} }, 2);
    const own = { sessionUpdate: 'subagent_update', sessionId: 's1', title: 'Me' };
    agent.answers['session/prompt'] = () => {
      agent.update('s1', { sessionUpdate: 'state_update', state: 'running' });
      agent.update('s1', { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'Other' });
      agent.update('s1', own);
      agent.update('child', own);
      agent.update('s1', 'Here I am');
      agent.update('s1', { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' });
      return { messageId: 'm' };
    };
    const { conversation } = await open(agent);
    assert.equal((await conversation.send('go').done).stopReason, 'end_turn');
    const { entries } = conversation.model.state;
    assert.deepEqual(
      entries.flatMap<unknown>((entry) =>
        entry.kind === 'tool' ? [entry.title] : entry.kind === 'agent' ? entry.content : [],
      ),
      ['Other', { type: 'text', text: 'Here I am' }],
    );
  });

  it('works without a client capability: shown under its call, asks and completes', async () => {
    const agent = new InlineAgent({ session: {} }, 2);
    const state = (word: object): object => ({ sessionUpdate: 'state_update', ...word });
    const content = { type: 'session', sessionId: 'child' };
    agent.answers['session/prompt'] = () => {
      agent.update('s1', state({ state: 'running' }));
      agent.update('s1', { sessionUpdate: 'tool_call_update', toolCallId: 't', title: 'Delegate' });
      agent.update('s1', { sessionUpdate: 'subagent_update', sessionId: 'child', title: 'Look around' });
      agent.update('s1', { sessionUpdate: 'tool_call_content_chunk', toolCallId: 't', content });
      agent.update('child', state({ state: 'running' }));
      agent.update('child', { sessionUpdate: 'tool_call_update', toolCallId: 't', title: 'Read x' });
      const subject = { type: 'tool_call', toolCall: { toolCallId: 't' } };
      const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
      const question = { sessionId: 'child', title: 'May I?', subject, options };
      void agent.ask(9, 'session/request_permission', question).then(() => {
        agent.update('child', state({ state: 'idle', stopReason: 'end_turn' }));
        agent.update('s1', state({ state: 'idle', stopReason: 'end_turn' }));
      });
      return { messageId: 'm' };
    };
    const { conversation, until } = await open(agent);
    const { done } = conversation.send('go');
    await until((c) => c.model.state.permissions.size === 1);
    const [id = ''] = conversation.model.state.permissions.keys();
    conversation.answerPermission(id, 'yes');
    assert.equal((await done).stopReason, 'end_turn');
    const tools = conversation.model.state.entries.flatMap((entry) => (entry.kind === 'tool' ? [entry] : []));
    const calls = new Map(tools.map(({ toolCallId, title }) => [toolCallId, title]));
    assert.deepEqual(
      tools.map(({ title, parent = '' }) => [title, calls.get(parent)]),
      [
        ['Delegate', undefined],
        ['Look around', 'Delegate'],
        ['Read x', 'Look around'],
      ],
    );
    assert.equal(tools[1]?.status, 'completed');
  });
});
