// Tests conversations with correct agent processes. The scripted agent exits with an error if the
// client violates the protocol.

import { strict as assert } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentEnvironment } from '../../../../src/agents/agentEnvironment';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import type { FilePort } from '../../../../src/client/ports/ports';
import { AgentFiles } from '../../../../src/client/requests/agentFiles';
import { phaseOf, projectSession } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript, presets } from '../../../support/agents/script';
import { pluck } from '../../../support/pluck';
import { goneFrom, isGone } from '../../../support/processes';
import { useAgentSession } from '../../../support/sessions/agentSession';
import { diskFiles, queuedTexts, queueStates } from '../../../support/sessions/conversation';
import { skipTime } from '../../../support/skipTime';

describe('conversation', function () {
  this.timeout(30_000);
  const session = useAgentSession();
  const open = (script: keyof typeof presets | AgentScript, services: Partial<ConversationServices> = {}) =>
    session.openAgent(scriptedAgent(script, session.agentLog), { services });

  describe('with a correct agent', () => {
    it('shows messages, and ends the turn at its barrier', async () => {
      open('proposals');
      const result = await session.conversation.send('say Hello\nsay world').done;
      assert.equal(result.stopReason, 'end_turn');
      assert.equal(session.said(), 'Helloworld');
      assert.equal(snapshotOf(session.conversation).turns[0]?.barrier, 'turn_complete');
      assert.equal(phaseOf(session.conversation), 'ready');
    });

    it('queues a message while a turn runs and sends it when the turn has ended', async () => {
      open('proposals');
      const first = session.conversation.send('wait');
      await session.until((c) => c.isBusy);
      const second = session.conversation.send('say second');
      assert.deepEqual(queueStates(session.conversation), [['say second', 'queued']]);
      session.conversation.cancel();
      assert.equal((await first.done).stopReason, 'cancelled');
      const [waiting] = snapshotOf(session.conversation).queue;
      assert.equal(waiting?.state, 'paused', 'Stop pauses the queue');
      session.conversation.queueActions.resume();
      assert.equal((await second.done).stopReason, 'end_turn');
      assert.equal(session.said(), 'second');
    });

    it('sends a queued message now by stopping the turn and waiting for its real end', async () => {
      open('proposals');
      const first = session.conversation.send('wait');
      await session.until((c) => c.isBusy);
      session.conversation.send('say one');
      const two = session.conversation.send('say two');
      session.conversation.queueActions.sendNow(two.id);
      assert.equal((await first.done).stopReason, 'cancelled');
      await two.done;
      await session.until((c) => c.queue.items.length === 0 && !c.isBusy);
      assert.equal(session.said(), 'two\none');
    });
  });

  describe('a queue', () => {
    it('does not hold later messages once it has been emptied', async () => {
      open('plain');
      const first = session.conversation.send('wait');
      await session.until((c) => c.isBusy);
      const second = session.conversation.send('permission');
      session.conversation.cancel();
      await first.done;
      assert.ok(session.conversation.queue.paused);
      session.conversation.queueActions.sendNow(second.id);
      await session.until((c) => c.model.state.permissions.size === 1);
      const third = session.conversation.send('say three');
      const [asked] = session.conversation.model.state.permissions.keys();
      session.conversation.answerPermission(asked ?? '', null);
      await third.done;
      assert.match(session.said(), /three$/);
    });

    it('is kept and paused when a turn ends with an error', async () => {
      open('plain');
      const first = session.conversation.send('error -32603 The model is overloaded');
      const rest = ['say two', 'say three'].map((text) => session.conversation.send(text));
      await first.done;
      await session.until((c) => !c.isBusy);
      assert.deepEqual(queueStates(session.conversation), [
        ['say two', 'paused'],
        ['say three', 'paused'],
      ]);
      assert.equal(session.conversation.queue.paused, 'turn-failed');
      session.conversation.queueActions.resume();
      for (const { done } of rest) await done;
      assert.equal(session.said(), 'two\nthree');
    });

    it('sends a message that is written during a pause first, and holds the others', async () => {
      open('plain');
      const first = session.conversation.send('error -32603 The model is overloaded');
      session.conversation.send('say two').done.catch(() => undefined);
      await first.done;
      await session.until((c) => !c.isBusy && c.queue.paused !== undefined);
      await session.conversation.send('say now').done;
      assert.equal(session.said(), 'now');
      assert.deepEqual(queueStates(session.conversation), [['say two', 'paused']]);
    });

    it('keeps and pauses a message whose agent was stopped during its start', async () => {
      open({ mute: ['initialize'] });
      session.conversation.send('say x');
      await session.until((c) => c.stages.current?.name === 'initialize');
      session.conversation.cancel();
      await session.until((c) => c.connection.kind === 'idle');
      assert.deepEqual(queueStates(session.conversation), [['say x', 'paused']]);
    });
  });

  it('ends the turn of a message that cannot be written, and keeps the message', async () => {
    open('plain');
    assert.equal((await session.conversation.send('say one\nunreadable').done).stopReason, 'end_turn');
    await skipTime(async () => {
      session.conversation.send('say two');
      await session.until((c) => c.queue.paused !== undefined);
    });
    assert.equal(session.conversation.queue.paused, 'agent-closed-input');
    assert.equal(session.conversation.isBusy, false);
    assert.deepEqual(pluck(session.conversation.queue.items, 'text', 'state'), [['say two', 'queued']]);
  });

  it('starts no second agent before the first one has exited', async () => {
    const pids = (): number[] => readAgentLog(session.agentLog).flatMap(({ ev, pid }) => (ev === 'start' ? [pid] : []));
    const alive: boolean[] = [];
    open(
      { ignoreStdinEnd: true },
      {
        environment: async () => {
          for (const pid of pids()) alive.push(!(await isGone(pid)));
          return agentEnvironment(process.env, undefined);
        },
      },
    );
    await session.conversation.send('say one').done;
    const restarted = session.conversation.restart();
    await session.until((c) => c.connection.kind === 'idle');
    const sent = session.conversation.send('say two');
    await restarted;
    session.conversation.queueActions.resume();
    assert.equal((await sent.done).stopReason, 'end_turn');
    assert.deepEqual(alive, [false]);
    assert.equal(pids().length, 2);
  });

  it('remembers the files that an agent has read after a restart', async () => {
    const path = join(session.folder, 'a.txt');
    writeFileSync(path, 'one\n');
    const bases: (string | undefined)[] = [];
    const port: FilePort = {
      ...diskFiles(),
      writeText: async (_path, _text, given) => void bases.push(given?.text),
    };
    const sessions = { store: join(session.folder, 'sessions'), load: true };
    open({ sessions }, { filesFor: (agentName, _result, given) => new AgentFiles(port, { agentName }, given) });
    await session.conversation.send(`read ${path}`).done;
    writeFileSync(path, 'mine\n');
    await session.conversation.restart();
    await session.conversation.send(`write ${path} two`).done;
    assert.deepEqual(bases, ['one\n']);
  });

  describe('terminals', () => {
    it('are ended with the session', async () => {
      open('plain');
      const printed = (): string => [...session.conversation.model.state.terminals.values()][0]?.output ?? '';
      session.conversation.send('terminal-leave');
      await session.until(() => printed().endsWith('\n'));
      const pid = Number(printed());
      assert.ok(pid > 0);
      await session.close();
      await goneFrom(pid);
    });
  });

  describe('a message that is sent while the turn is being stopped', () => {
    it('is sent after the turn and before queued messages, as is one sent after it', async () => {
      open('plain');
      const turn = session.conversation.send('permission');
      await session.until((c) => c.model.state.permissions.size === 1);
      session.conversation.send('say queued').done.catch(() => {});
      session.conversation.cancel();
      const during = session.conversation.send('say during');
      assert.equal((await turn.done).stopReason, 'cancelled');
      assert.equal((await during.done).stopReason, 'end_turn');
      assert.deepEqual(queuedTexts(session.conversation), ['say queued']);
      assert.equal(session.conversation.queue.paused, 'stopped');
    });
  });

  describe('permissions', () => {
    it('are answered with cancelled when the turn is stopped', async () => {
      open('plain');
      const turn = session.conversation.send('two-permissions');
      await session.until((c) => c.model.state.permissions.size === 2);
      session.conversation.cancel();
      assert.equal((await turn.done).stopReason, 'cancelled');
      assert.equal(session.conversation.model.state.permissions.size, 0);
      const tools = snapshotOf(session.conversation).entries.flatMap(({ tool }) => (tool ? [tool.status] : []));
      assert.deepEqual(tools, ['cancelled', 'cancelled']);
    });

    it('are cancelled by a dismissal, never answered with an option', async () => {
      open('plain');
      const turn = session.conversation.send('permission');
      await session.until((c) => c.model.state.permissions.size === 1);
      session.conversation.answerPermission([...session.conversation.model.state.permissions.keys()][0] ?? '', null);
      await turn.done;
      assert.match(session.said(), /"outcome":"cancelled"/);
    });

    it('are shown without options if they have none, and can only be dismissed', async () => {
      open('plain');
      const turn = session.conversation.send('permission-none');
      await session.until((c) => c.model.state.permissions.size === 1);
      assert.equal(
        session.conversation.answerPermission(
          [...session.conversation.model.state.permissions.keys()][0] ?? '',
          'allow',
        ),
        false,
      );
      session.conversation.answerPermission([...session.conversation.model.state.permissions.keys()][0] ?? '', null);
      await turn.done;
      assert.match(session.said(), /"outcome":"cancelled"/);
    });
  });

  describe('turn ends', () => {
    it('let a late update complete a tool call', async () => {
      open('plain');
      await session.conversation.send('late tool').done;
      await session.until((c) => snapshotOf(c).entries.some(({ tool }) => tool?.status === 'completed'));
    });

    it('allow sending a failed prompt again once, as a new message with its attachments', async () => {
      open('plain');
      const { conversation } = session;
      const link = { type: 'resource_link', uri: 'file:///work/a.ts', name: 'a.ts' } as const;
      const file = { id: 'f', kind: 'file', label: 'a.ts', forms: [link] } as const;
      await conversation.send('say fine').done;
      assert.equal(conversation.sendAgain('t1'), false, 'a turn that did not fail');
      await conversation.send('error -32603 The model is overloaded', [file]).done;
      assert.equal(projectSession(conversation).failedTurnId, 't2');
      conversation.queue.pause('turn-failed');
      assert.equal(conversation.sendAgain('t1'), false, 'a turn that is not the newest');
      assert.equal(conversation.sendAgain('t2'), true);
      assert.equal(conversation.sendAgain('t2'), false, 'it is on its way');
      assert.equal(projectSession(conversation).failedTurnId, undefined);
      await session.until(({ model }) => model.state.turns.length === 3 && !model.state.turn);
      const said = conversation.model.state.entries.flatMap((entry) => (entry.kind === 'user' ? [entry.content] : []));
      assert.deepEqual(said[2], said[1]);
      assert.deepEqual(said[2]?.at(-1), link);
    });
  });
});
