// Demo scenes about the proposals (docs/proposals.md), as wire messages and as shown by Parley.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { snapshotOf } from '../../../src/client/view/snapshot';
import { DemoAgent } from '../../../src/demo/demoAgent';
import type { Message } from '../../agents/rawClient';
import { officialSchema } from '../../support/protocol/officialSchema';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { useAgentSession } from '../../support/sessions/agentSession';
import { startProgram } from '../../support/sessions/memoryAgents';
import { MemoryClient } from './memoryClient';

const VERSIONS = [1, 2] as const;
type Version = (typeof VERSIONS)[number];

const CAN = { elicitation: { form: {} }, _meta: { prompt_lifecycle: { receipt: {} } } };

describe("the demo agent's proposal scenes on the wire", () => {
  let client: MemoryClient;
  let sessionId: string;

  afterEach(removeScratch);

  async function open(version: Version, cwd = '/work', can: object = CAN): Promise<void> {
    client = new MemoryClient();
    await client.request('initialize', { protocolVersion: version, capabilities: can, clientCapabilities: can });
    ({ sessionId } = await client.request('session/new', { cwd, mcpServers: [] }));
  }

  async function openReady(version: Version, cwd?: string, can?: object): Promise<void> {
    await open(version, cwd, can);
    client.notify('session/ready', { sessionId });
    await hurry();
  }

  const hurry = () => client.request('session/set_config_option', { sessionId, configId: 'pace', value: 'instant' });
  const prompt = (text: string) => client.send('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  const isIdle = (update: { state?: string }): boolean => update.state === 'idle';

  async function play(version: Version, text: string): Promise<string[]> {
    const from = client.received.length;
    const { answer } = prompt(text);
    if (version === 1) await answer;
    else
      await client.until((message) => client.received.indexOf(message) >= from && isIdle(message.params?.update ?? {}));
    return client.story(from);
  }

  for (const version of VERSIONS) {
    describe(`in version ${version}`, () => {
      it('/ready lists what was sent after session/ready, and nothing before', async () => {
        await open(version);
        assert.deepEqual(client.story(2), []);
        client.notify('session/ready', { sessionId });
        await hurry();
        await play(version, '/ready');
        const rows = [...client.text.matchAll(/^\| \d+ ms \| (\w+) \| `(.+)` \|$/gm)].map(
          ([, by, what]) => `${by}: ${what}`,
        );
        assert.deepEqual(rows.slice(0, 5), [
          'client: session/new',
          'agent: answer to session/new',
          'client: session/ready',
          'agent: available_commands_update',
          'agent: usage_update',
        ]);
        assert.match(client.text, /Nothing of mine went out before/);
      });

      it('/ready reports a missing signal', async () => {
        await open(version);
        await hurry();
        await play(version, '/ready');
        assert.match(client.text, /never sent `session\/ready`/);
      });

      it('/background ends the turn, continues, and starts a turn', async () => {
        await openReady(version);
        const from = client.received.length;
        await play(version, '/background');
        await client.untilUpdate((update) => isIdle(update) && update.background.length === 0);
        const own = ['state_update running', 'tool_call_update completed', 'text', 'state_update idle end_turn'];
        const [tool, ...ended] =
          version === 1
            ? [
                'tool_call in_progress',
                'state_update idle with background work',
                'turn_complete end_turn',
                'answer {"stopReason":"end_turn"}',
              ]
            : ['tool_call_update in_progress', 'state_update idle end_turn with background work'];
        const story = client.story(from);
        assert.deepEqual(story.slice(story.indexOf('text')), ['text', tool, ...ended, 'tool_call_update', ...own]);
        assert.match(client.text, /I began this turn by myself/);
      });

      it('/forget returns not_found and -32002 until the session is opened again', async () => {
        await openReady(version);
        await play(version, '/forget');
        assert.deepEqual(await client.request('session/status', { sessionId }), { status: 'not_found' });
        assert.equal((await prompt('hi').answer).error.code, -32002);
        await client.request('session/resume', { sessionId, cwd: '/work', mcpServers: [] });
        assert.deepEqual(await client.request('session/status', { sessionId }), { status: 'live' });
        await hurry();
        await play(version, 'hi');
        assert.match(client.text, /opened it again with `session\/resume`/);
      });

      it('/twoclients sends a message of another client, and turn_complete with a foreign id before the end', async () => {
        await openReady(version);
        const { id } = prompt('/twoclients');
        const foreign = await client.untilUpdate(({ sessionUpdate }) => sessionUpdate === 'turn_complete');
        assert.notEqual(foreign.params.update.promptRequestId, String(id));
        const end = await client.untilUpdate((update) =>
          version === 1 ? update.promptRequestId === String(id) : isIdle(update),
        );
        assert.ok(client.received.indexOf(end) > client.received.indexOf(foreign));
        const asked = client.received.find(({ params }) => params?.update?.sessionUpdate === 'user_message_chunk');
        assert.ok(asked && client.received.indexOf(asked) < client.received.indexOf(foreign));
      });
    });
  }

  it('/late responds first in version 1, and ends the turn with turn_complete', async () => {
    await openReady(1);
    const from = client.received.length;
    const { id } = prompt('/late');
    await client.untilUpdate((update) => update.promptRequestId === String(id));
    assert.deepEqual(client.story(from), [
      'text',
      'answer {"stopReason":"end_turn"}',
      'tool_call in_progress',
      'tool_call_update completed',
      'text',
      'turn_complete end_turn',
    ]);
  });

  it('/late sends the receipt first in version 2, and ends the turn with idle', async () => {
    await openReady(2);
    const story = await play(2, '/late');
    assert.match(story[1] ?? '', /^answer \{"messageId":/);
    assert.deepEqual(story.toSpliced(1, 1), [
      'state_update running',
      'user_message',
      'text',
      'tool_call_update in_progress',
      'tool_call_update completed',
      'text',
      'state_update idle end_turn',
    ]);
  });

  it('/late stops after its response if the client cancels', async () => {
    await openReady(1);
    await client.request('session/set_config_option', { sessionId, configId: 'pace', value: 'brisk' });
    await prompt('/late').answer;
    client.notify('session/cancel', { sessionId });
    const end = await client.untilUpdate(({ sessionUpdate }) => sessionUpdate === 'turn_complete');
    assert.equal(end.params.update.stopReason, 'cancelled');
  });

  it('/steer inserts a message at the next break, with the same id in receipt and message', async () => {
    await openReady(2);
    prompt('/steer');
    await client.untilUpdate(({ title }) => title === 'Read the question');
    const { answer } = prompt('use tabs');
    const { messageId } = (await answer).result;
    const echo = await client.untilUpdate((update) => update.messageId === messageId);
    assert.deepEqual(echo.params.update.content, [{ type: 'text', text: 'use tabs' }]);
    await client.untilUpdate(isIdle);
    assert.equal(client.story().filter((word) => word.startsWith('state_update running')).length, 1);
    const words = `I took in “use tabs”. The receipt and the message above have the same id, \`${messageId}\``;
    assert.ok(client.text.includes(words));
  });

  it('adds a message of _session/steering to a turn of version 1, and returns it if none is running', async () => {
    await openReady(1);
    const steer = (text: string) =>
      client.request('_session/steering', { sessionId, prompt: [{ type: 'text', text }] });
    assert.deepEqual(await steer('too early'), { outcome: 'promptRequired' });
    const { answer } = prompt('/steer');
    await client.untilUpdate(({ title }) => title === 'Read the question');
    assert.deepEqual(await steer('use tabs'), { outcome: 'injected' });
    await answer;
    assert.match(client.text, /I took in “use tabs”\. I go on/);
    assert.deepEqual(await steer('too late'), { outcome: 'promptRequired' });
  });

  it('plays a prompt that joined no turn as the next turn', async () => {
    await openReady(2);
    prompt('/plan');
    const { answer } = prompt('/thoughts');
    assert.equal(typeof (await answer).result.messageId, 'string');
    const plan = client.received.findIndex(({ params }) => params?.update?.state === 'idle');
    assert.ok(plan >= 0 && plan < client.received.indexOf(await answer));
  });

  it('returns a held prompt with -32800 if the client cancels', async () => {
    await openReady(2);
    const first = prompt('/slow');
    const second = prompt('/help');
    await first.answer;
    client.notify('session/cancel', { sessionId });
    assert.equal((await second.answer).error.code, -32800);
    const end = await client.untilUpdate(isIdle);
    assert.equal(end.params.update.stopReason, 'cancelled');
  });

  for (const [who, scene, can, fate, ends] of [
    ['knows receipts', '/background', CAN, -32800, 0],
    ['knows none: its turn is over', '/background', {}, 'cancelled', 1],
  ] as const)
    it(`returns a prompt that did not join the agent's own turn if the client of version 1 ${who}`, async () => {
      await openReady(1, '/work', can);
      await client.request('session/set_config_option', { sessionId, configId: 'pace', value: 'brisk' });
      prompt(scene);
      await client.untilUpdate(({ state }) => state === 'running');
      const { id, answer } = prompt('/help');
      client.notify('session/cancel', { sessionId });
      const { result, error } = await answer;
      assert.equal(error?.code ?? result.stopReason, fate);
      const completed = client.received.filter(({ params }) => params?.update?.promptRequestId === String(id));
      assert.equal(completed.length, ends);
    });

  it('returns only the prompt whose request is cancelled', async () => {
    await openReady(2);
    prompt('/slow');
    const { id, answer } = prompt('/help');
    client.notify('$/cancel_request', { requestId: id });
    assert.equal((await answer).error.code, -32800);
    assert.equal(
      client.story().some((word) => word.startsWith('state_update idle')),
      false,
    );
    client.notify('session/cancel', { sessionId });
    await client.untilUpdate(isIdle);
  });

  it('sends turn_complete once for a failing turn of version 1, after the error', async () => {
    await openReady(1);
    const { id, answer } = prompt('/error');
    const end = await client.untilUpdate((update) => update.promptRequestId === String(id));
    assert.equal(end.params.update.stopReason, undefined);
    assert.ok(client.received.indexOf(await answer) < client.received.indexOf(end));
  });

  it('continues a turn if the session is resumed during it', async () => {
    await openReady(2);
    prompt('/slow');
    await client.untilUpdate(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
    const from = client.received.length;
    await client.request('session/resume', { sessionId, cwd: '/work', mcpServers: [] });
    assert.ok(client.story(from).includes('state_update running'));
    client.notify('session/cancel', { sessionId });
    await client.untilUpdate(isIdle);
  });

  it('/ready includes the state that version 2 requires before the response to session/resume', async () => {
    await openReady(2);
    await client.request('session/resume', { sessionId, cwd: '/work', mcpServers: [] });
    client.notify('session/ready', { sessionId });
    const from = client.text.length;
    await play(2, '/ready');
    const said = client.text.slice(from);
    const order = ['`session/resume`', '`state_update`', '`answer to session/resume`', '`session/ready` |'];
    const places = order.map((words) => said.indexOf(words));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      said,
    );
    assert.ok(!places.includes(-1), said);
    assert.match(said, /Only my state went out before/);
    assert.doesNotMatch(said, /Nothing of mine/);
  });

  for (const version of VERSIONS)
    it(`sends no updates of a session after responding to its close, in version ${version}`, async () => {
      await openReady(version);
      const { answer } = prompt('/slow');
      await client.untilUpdate(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
      await client.request('session/close', { sessionId });
      if (version === 1) assert.equal((await answer).result.stopReason, 'cancelled');
      const from = client.received.length;
      await client.request('session/status', { sessionId });
      assert.deepEqual(client.story(from), ['answer {"status":"not_found"}']);
    });

  it('ends a failing turn of version 2 with the error in idle', async () => {
    await openReady(2);
    await play(2, '/error');
    assert.equal(client.received.at(-1)?.params.update.error.code, -32603);
  });

  it('asks with the change in version 2, and writes the file itself', async () => {
    const cwd = await scratchFolder();
    await openReady(2, cwd);
    for (const line of ['first', 'second']) {
      const from = client.received.length;
      const done = play(2, `/edit ${line}`);
      const isQuestion = ({ method }: Message): boolean => method === 'session/request_permission';
      const { id, params } = await client.until((one) => client.received.indexOf(one) >= from && isQuestion(one));
      assert.equal(officialSchema('v2').misfit('RequestPermissionRequest', params), undefined);
      const [diff] = params.subject.toolCall.content;
      assert.equal(diff.changes[0].operation, line === 'first' ? 'add' : 'modify');
      assert.match(diff.patch.text, new RegExp(`\\+- ${line}\\n$`));
      client.answer(id, { outcome: { outcome: 'selected', optionId: 'once' } });
      assert.ok((await done).includes('state_update requires_action'));
    }
    assert.match(await readFile(join(cwd, 'parley-demo.md'), 'utf8'), /- first\n- second\n$/);
  });

  it('runs a command itself in version 2, and shows its output and exit code', async () => {
    await openReady(2, await scratchFolder());
    await client.request('session/set_config_option', { sessionId, configId: 'mode', value: 'auto' });
    await play(2, '/terminal');
    const updates = client.received.flatMap(({ params }) => params?.update ?? []);
    const output = updates
      .map(({ data }) => (data === undefined ? '' : Buffer.from(data, 'base64').toString()))
      .join('');
    assert.ok(output.includes('\u001b[32;1mdone'));
    assert.ok(updates.some(({ exitStatus }) => exitStatus?.exitCode === 0));
  });

  it('sends only messages that version 2 defines', async () => {
    await openReady(2);
    const schema = officialSchema('v2');
    for (const text of ['hi', '/thoughts', '/plan', '/ready', '/late', '/steer', '/background', '/forget'])
      await play(2, text);
    await client.request('session/resume', { sessionId, cwd: '/work', mcpServers: [] });
    await client.request('session/list', {});
    const wrong = client.received.flatMap(({ method, params }) =>
      method === 'session/update' ? [schema.misfit('UpdateSessionNotification', params)] : [],
    );
    assert.deepEqual(
      wrong.filter((one) => one !== undefined),
      [],
    );
    const [initialized, opened] = client.received;
    assert.equal(schema.misfit('InitializeResponse', initialized?.result), undefined);
    assert.equal(schema.misfit('NewSessionResponse', opened?.result), undefined);
    assert.equal(schema.misfit('ListSessionsResponse', client.received.at(-1)?.result), undefined);
  });
});

describe("Parley running the demo agent's proposal scenes", () => {
  const session = useAgentSession();

  const open = async (version: Version, pace = 'instant'): Promise<Conversation> => {
    const { conversation } = session.openAgent(
      { command: process.execPath, protocol: version },
      {
        services: {
          startProcess: (options) => startProgram(({ stdin, stdout }) => void new DemoAgent(stdin, stdout), options),
        },
      },
    );
    await conversation.start();
    await conversation.choices.setConfigOption('pace', pace);
    return conversation;
  };

  const entries = (): string[] =>
    snapshotOf(session.conversation).entries.map(
      ({ kind, turnId, late, text, tool }) => `${turnId ?? '-'} ${kind}${late ? ' late' : ''}: ${tool?.title ?? text}`,
    );
  const turns = (): string[] =>
    snapshotOf(session.conversation).turns.map(
      ({ id, origin, stopReason, barrier }) => `${id} ${origin} ${stopReason} by ${barrier}`,
    );
  for (const version of VERSIONS) {
    const barrier = version === 1 ? 'turn_complete' : 'state';

    describe(`in version ${version}`, () => {
      it('/background: ends the turn, keeps the call open, and shows the turn that the agent started', async () => {
        const conversation = await open(version);
        const call = () => snapshotOf(conversation).entries.find(({ tool }) => tool)?.tool?.status;
        const seen = new Set<string>();
        void conversation.send('/background');
        await session.until(({ model }) => {
          const ended = model.state.turns.filter(({ stopReason }) => stopReason !== undefined);
          seen.add(`${ended.length} of ${model.state.turns.length} turns ended, call ${call()}`);
          return ended.length === 2;
        });
        assert.ok(seen.has('1 of 1 turns ended, call in_progress'), [...seen].join('\n'));
        assert.deepEqual(turns(), [`t1 user end_turn by ${barrier}`, 't2 agent end_turn by state']);
        assert.equal(call(), 'completed');
        assert.match(entries().at(-1) ?? '', /^t2 agent: The background work is done/);
      });

      it('/forget: reopens the session, and resends the message and the options', async () => {
        const conversation = await open(version);
        await conversation.send('/forget').done;
        assert.equal(await conversation.checkStatus(), 'not_found');
        assert.equal((await conversation.send('hi').done).stopReason, 'end_turn');
        assert.match(session.said(), /\nI had forgotten this session/);
        assert.equal(entries().filter((entry) => entry === 't2 user: hi').length, 1);
        assert.equal(await conversation.checkStatus(), 'live');
        assert.equal(conversation.model.state.config.find(({ id }) => id === 'pace')?.value, 'instant');
      });
    });
  }

  for (const version of VERSIONS)
    it(`/steer: adds a message to the running turn, in version ${version}`, async () => {
      const conversation = await open(version, 'brisk');
      void conversation.send('/steer');
      await session.until(({ model }) => model.state.entries.some(({ kind }) => kind === 'tool'));
      const sent = conversation.send('use tabs');
      conversation.queueActions.steer(sent.id);
      await session.until(() => entries().some((entry) => entry.endsWith(' user: use tabs')));
      await conversation.choices.setConfigOption('pace', 'instant');
      assert.equal((await sent.done).turnId, 't1');
      assert.deepEqual(turns(), [`t1 user end_turn by ${version === 1 ? 'turn_complete' : 'state'}`]);
      assert.deepEqual(
        entries().filter((entry) => entry.endsWith('use tabs')),
        ['t1 user: use tabs'],
      );
      assert.match(session.said(), /I took in “use tabs”/);
    });
});
