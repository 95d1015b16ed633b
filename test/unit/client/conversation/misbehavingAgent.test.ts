// Tests conversations with misbehaving agents: they recover, and the user learns why.

import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { phaseOf, projectSession, statusOf } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { readAgentLog, scriptedAgent } from '../../../support/agents/definition';
import type { AgentScript, presets } from '../../../support/agents/script';
import { pluck } from '../../../support/pluck';
import { useAgentSession } from '../../../support/sessions/agentSession';

describe('conversation', function () {
  this.timeout(30_000);
  const session = useAgentSession();
  const open = (script: keyof typeof presets | AgentScript, services: Partial<ConversationServices> = {}) =>
    session.openAgent(scriptedAgent(script, session.agentLog), { services });
  const error = () => projectSession(session.conversation).error;

  describe('with an agent that misbehaves', () => {
    it('says that the command was not found, and offers its settings and the agents to add', async () => {
      session.openAgent({ command: 'parley-no-such-agent' });
      session.conversation.send('say hello');
      await session.until((c) => c.connection.kind === 'failed');
      assert.equal(error()?.code, 'agent-not-found');
      assert.equal(error()?.stage, 'resolve');
      assert.match(error()?.message ?? '', /parley-no-such-agent/);
      const offered = error()?.actions.map(({ id }) => id) ?? [];
      assert.deepEqual(offered.slice(0, 2), ['editAgent', 'installAgent']);
      assert.equal(snapshotOf(session.conversation).queue[0]?.text, 'say hello', 'the message stays');
    });

    it('shows the exit code and last output of an agent that exits immediately', async () => {
      open('exit-at-once');
      await session.conversation.start();
      assert.equal(phaseOf(session.conversation), 'failed');
      assert.equal(error()?.stage, 'initialize');
      assert.match(error()?.message ?? '', /exited with code 1/);
      assert.match(error()?.stderr ?? '', /no model configured/);
    });

    it('says that the Node.js of an agent is too old, even if a script printed a line before', async () => {
      const words = 'SyntaxError: kimi requires Node.js >= 99.1.0';
      const program = `console.log('> kimi@1.0.0 acp'); console.error(${JSON.stringify(words)}); process.exit(1)`;
      session.openAgent({ command: process.execPath, args: ['-e', program] });
      await session.conversation.start();
      assert.match(error()?.hint ?? '', /^It needs Node\.js 99\.1\.0 or later/);
    });

    it('ignores garbage between the messages of an agent', async () => {
      open('noise-among');
      await session.conversation.send('say clear').done;
      assert.equal(session.said(), 'clear');
    });

    it('shows the garbage if an agent prints nothing else', async () => {
      session.openAgent(
        {
          command: process.execPath,
          args: ['-e', 'console.log("Welcome to the wrong mode!"); setInterval(() => {}, 1e6)'],
        },
        { services: { startTimeoutMs: () => 500 } },
      );
      await session.conversation.start();
      assert.equal(error()?.stage, 'initialize');
      assert.match(error()?.hint ?? '', /Welcome to the wrong mode!/);
    });

    it('gives up on an agent that never answers initialize, and can be retried', async () => {
      open('silent', { startTimeoutMs: () => 100 });
      await session.conversation.start();
      assert.equal(error()?.code, 'stage-timeout');
      assert.equal(error()?.stage, 'initialize');
      await session.conversation.restart();
      assert.equal(readAgentLog(session.agentLog).filter(({ ev }) => ev === 'start').length, 2);
    });

    it('stops an agent that sends a message of 40 MB, keeps earlier output, and starts again', async () => {
      open('plain');
      const turn = session.conversation.send('say before\nhuge 40');
      assert.equal((await turn.done).stopReason, 'error');
      await session.until((c) => c.connection.kind === 'exited');
      assert.equal(error()?.code, 'message-too-large');
      assert.match(session.said(), /before/);
      await session.conversation.restart();
      assert.equal((await session.conversation.send('say again').done).stopReason, 'end_turn');
    });

    it('asks before a file outside of the folder is read, and refuses by default', async () => {
      open('plain');
      await writeFile(join(session.folder, 'inside.txt'), 'one\ntwo\nthree\n');
      const { done } = session.conversation.send(
        `read ${join(session.folder, 'inside.txt')} 2 1\nread /etc/hostname\nread ${join(session.folder, 'missing.txt')}`,
      );
      await session.until(({ model }) => model.state.permissions.size === 1);
      const [[id, question] = assert.fail()] = session.conversation.model.state.permissions;
      assert.match(question.title, /to read a file outside its folders/);
      assert.equal(session.conversation.answerPermission(id, 'refuse'), true);
      await done;
      assert.match(session.said(), /"content":"two/);
      assert.match(session.said(), /-32003/);
      assert.match(session.said(), /-32002/);
    });

    it('ends an agent that closes its output but keeps running', async () => {
      open({ ignoreStdinEnd: true });
      const turn = session.conversation.send('deaf');
      assert.equal((await turn.done).stopReason, 'error');
      await session.until((c) => c.connection.kind === 'exited');
      assert.equal(error()?.code, 'agent-closed-output');
      assert.match(session.said(), /I will say nothing more/);
    });

    for (const how of ['3', 'SIGKILL']) {
      it(`keeps everything if an agent dies mid-turn (${how}), says how, and can be retried`, async () => {
        open('plain');
        const turn = session.conversation.send(`die ${how}`);
        await session.until((c) => c.isBusy);
        const waiting = session.conversation.send('say after');
        assert.equal((await turn.done).stopReason, 'error');
        await session.until((c) => c.connection.kind === 'exited');
        assert.match(session.said(), /last words/);
        assert.match(error()?.message ?? '', how === '3' ? /code 3/ : /SIGKILL/);
        assert.match(error()?.stderr ?? '', /terribly wrong/);
        const snapshot = snapshotOf(session.conversation);
        assert.equal(snapshot.turns[0]?.barrier, 'exit');
        assert.ok(snapshot.entries.some(({ tool }) => tool?.status === 'cancelled'));
        assert.deepEqual(pluck(snapshot.queue, 'text', 'state'), [['say after', 'paused']]);
        session.conversation.queueActions.resume();
        assert.equal((await waiting.done).stopReason, 'end_turn');
        assert.match(session.said(), /after/);
      });
    }

    it('starts nothing in an untrusted workspace, and keeps the message', async () => {
      open('plain', { isTrusted: () => false });
      assert.throws(() => session.conversation.send('say x'), { code: 'untrusted-workspace' });
      await session.conversation.start();
      assert.equal(error()?.code, 'untrusted-workspace');
      assert.equal(phaseOf(session.conversation), 'idle', 'nothing was tried, so nothing failed');
      assert.equal(statusOf(session.conversation), 'Restricted Mode');
      assert.deepEqual(readAgentLog(session.agentLog), []);
    });
  });
});
