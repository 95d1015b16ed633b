// Whole conversations with real agent processes, well and badly behaved. The scripted agent ends itself with a violation where the client breaks a rule.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import type { Log } from '../../../src/base/log';
import { phaseOf, projectSession } from '../../../src/client/projectSession';
import type { ConversationServices } from '../../../src/client/services';
import { snapshotOf } from '../../../src/client/snapshot';
import { calledMethods, readAgentLog, scriptedAgent } from '../../support/agents/definition';
import type { AgentScript, presets } from '../../support/agents/script';
import { type TestConversation, testConversation } from '../../support/conversation';
import { goneFrom, isGone } from '../../support/processes';
import { removeScratch, scratchFolder } from '../../support/scratch';

describe('conversation', function () {
  this.timeout(30_000);
  let session: TestConversation;
  let folder: string;
  let agentLog: string;
  let warnings: string[];

  beforeEach(async () => {
    folder = await scratchFolder();
    agentLog = join(folder, '..', `${folder.split('/').at(-1)}.agent.ndjson`);
    warnings = [];
  });
  afterEach(async () => {
    await session?.close();
    const violations = readAgentLog(agentLog).filter(({ ev }) => ev === 'violation');
    assert.deepEqual(violations, []);
    await removeScratch();
  });

  function open(
    script: keyof typeof presets | AgentScript,
    services: Partial<ConversationServices> = {},
  ): TestConversation {
    return openAgent(scriptedAgent(script, agentLog), services);
  }

  function openAgent(entry: unknown, services: Partial<ConversationServices> = {}): TestConversation {
    const log: Log = {
      trace() {},
      debug() {},
      info() {},
      warn: (line) => warnings.push(line),
      error: (line) => warnings.push(line),
    };
    const [agent] = parseAgents({ scripted: entry }).agents;
    session = testConversation({ agent: agent as AgentDefinition, cwd: folder, log, services });
    return session;
  }

  const said = (): string =>
    snapshotOf(session.conversation)
      .entries.filter(({ kind }) => kind === 'agent')
      .map(({ text }) => text)
      .join('\n');
  const kinds = (): string[] =>
    snapshotOf(session.conversation).entries.map(({ kind, late }) => (late ? `${kind} late` : kind));
  const error = () => projectSession(session.conversation).error;

  describe('with an agent that behaves', () => {
    it('shows what it says, and ends the turn at its barrier', async () => {
      open('proposals');
      const result = await session.conversation.send('say Hello\nsay world').done;
      assert.equal(result.stopReason, 'end_turn');
      assert.equal(said(), 'Helloworld');
      assert.equal(snapshotOf(session.conversation).turns[0]?.barrier, 'turn_complete');
      assert.equal(phaseOf(session.conversation), 'ready');
    });

    it('says session/ready once, after session/new and before the first prompt', async () => {
      open('proposals');
      await session.conversation.send('say x').done;
      await session.conversation.send('say y').done;
      assert.deepEqual(calledMethods(readAgentLog(agentLog)), [
        'initialize',
        'session/new',
        'session/ready',
        'session/prompt',
        'session/prompt',
      ]);
    });

    for (const preset of ['ready-v2-place', 'ready-session', 'ready-session-capabilities', 'ready-meta'] as const) {
      it(`reads the ready capability where it stands: ${preset}`, async () => {
        open(preset);
        await session.conversation.send('say x').done;
        assert.ok(calledMethods(readAgentLog(agentLog)).includes('session/ready'));
      });
    }

    for (const preset of ['plain', 'ready-false', 'ready-string'] as const) {
      it(`does not say session/ready to an agent that did not ask for it: ${preset}`, async () => {
        open(preset);
        await session.conversation.send('say x').done;
        assert.ok(!calledMethods(readAgentLog(agentLog)).includes('session/ready'));
      });
    }

    it('loses none of the updates that come before the session is known', async () => {
      open('early');
      await session.conversation.start();
      await session.conversation.send('say after').done;
      const early = readAgentLog(agentLog).filter(
        ({ dir, msg }) => dir === 'out' && msg?.method === 'session/update',
      ).length;
      assert.ok(early >= 36);
      const text = said();
      assert.ok(text.includes('35'), text.slice(0, 300));
    });

    it('shows all 14 updates, and those that it does not know', async () => {
      open('plain');
      await session.conversation.send('all-updates\nunknown-updates').done;
      const snapshot = snapshotOf(session.conversation);
      for (const kind of ['user', 'agent', 'thought', 'tool', 'plan', 'notice'])
        assert.ok(kinds().includes(kind), `${kind} is missing: ${kinds()}`);
      assert.ok(snapshot.commands.length > 0 && snapshot.usage && snapshot.title);
    });

    it('queues a message while a turn runs and sends it when the turn has ended', async () => {
      open('proposals');
      const first = session.conversation.send('wait');
      await session.until((c) => c.isBusy);
      const second = session.conversation.send('say second');
      assert.deepEqual(
        snapshotOf(session.conversation).queue.map(({ text, state }) => [text, state]),
        [['say second', 'queued']],
      );
      session.conversation.cancel();
      assert.equal((await first.done).stopReason, 'cancelled');
      const [waiting] = snapshotOf(session.conversation).queue;
      assert.equal(waiting?.state, 'paused', 'Stop pauses the queue');
      session.conversation.resumeQueue();
      assert.equal((await second.done).stopReason, 'end_turn');
      assert.equal(said(), 'second');
    });

    it('sends a queued message now by stopping the turn and waiting for its real end', async () => {
      open('proposals');
      const first = session.conversation.send('wait');
      await session.until((c) => c.isBusy);
      session.conversation.send('say one');
      const two = session.conversation.send('say two');
      session.conversation.sendNow(two.id);
      assert.equal((await first.done).stopReason, 'cancelled');
      await two.done;
      await session.until((c) => c.queue.items.length === 0 && !c.isBusy);
      assert.equal(said(), 'two\none');
    });

    it('does not send an item while it is being edited', async () => {
      open('plain');
      const first = session.conversation.send('wait');
      await session.until((c) => c.isBusy);
      const second = session.conversation.send('say draft');
      session.conversation.queue.hold(second.id, true);
      session.conversation.cancel();
      await first.done;
      session.conversation.resumeQueue();
      assert.equal(session.conversation.isBusy, false);
      session.conversation.queue.edit(second.id, 'say final');
      session.conversation.pumpQueue();
      await second.done;
      assert.equal(said(), 'final');
    });

    it('probes a session that was quiet, and only then', async () => {
      open('proposals', { quietMs: 0 });
      await session.conversation.send('say x').done;
      assert.ok(calledMethods(readAgentLog(agentLog)).includes('session/status'));
      assert.equal(session.conversation.liveness, 'live');
      await session.close();
      open('proposals');
      await session.conversation.send('say x').done;
      const methods = calledMethods(readAgentLog(agentLog));
      assert.equal(methods.filter((method) => method === 'session/status').length, 1);
    });

    it('keeps the message where the probe says that the session is gone', async () => {
      open(
        { status: { path: ['agentCapabilities', 'sessionCapabilities', 'status'], answer: 'not_found' } },
        { quietMs: -1 },
      );
      session.conversation.send('say x');
      await session.until((c) => c.queue.paused !== undefined);
      assert.equal(session.conversation.liveness, 'not_found');
      assert.equal(snapshotOf(session.conversation).queue[0]?.text, 'say x');
    });
  });

  describe('terminals', () => {
    it('run for real, show their output in the tool call, and end with their exit code', async () => {
      open('plain');
      await session.conversation.send('terminal').done;
      const [terminal] = [...session.conversation.model.state.terminals.values()];
      assert.match(terminal?.output ?? '', /out /);
      assert.match(terminal?.output ?? '', /err/);
      assert.equal(terminal?.exit?.exitCode, 3);
      assert.ok(
        snapshotOf(session.conversation).entries.some(({ tool }) =>
          tool?.content.some(({ type }) => type === 'terminal'),
        ),
      );
    });

    it('keep the end of their output at a whole character, can be killed, and stay visible after their release', async () => {
      open('plain');
      await session.conversation.send('terminal-limit 100\nterminal-kill\nterminal-release').done;
      assert.match(said(), /é+END/);
      assert.doesNotMatch(said(), /\ufffd/);
      assert.ok(
        [...session.conversation.model.state.terminals.values()].every(
          ({ exit, released }) => exit !== undefined || released,
        ),
      );
    });

    it('end with the session where the agent left one running', async () => {
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

  describe('permissions', () => {
    it('answers with the option that the user chose, by its id', async () => {
      open('plain');
      const turn = session.conversation.send('permission');
      await session.until((c) => c.model.state.permissions.size === 1);
      assert.equal(phaseOf(session.conversation), 'requiresAction');
      const [permission] = snapshotOf(session.conversation).permissions;
      assert.ok(session.conversation.answerPermission(permission?.id ?? '', 'always'));
      await turn.done;
      assert.match(said(), /"optionId":"always"/);
    });

    it('answers every open question with cancelled when the turn is stopped', async () => {
      open('plain');
      const turn = session.conversation.send('two-permissions');
      await session.until((c) => c.model.state.permissions.size === 2);
      session.conversation.cancel();
      assert.equal((await turn.done).stopReason, 'cancelled');
      assert.equal(session.conversation.model.state.permissions.size, 0);
      const tools = snapshotOf(session.conversation).entries.flatMap(({ tool }) => (tool ? [tool.status] : []));
      assert.deepEqual(tools, ['cancelled', 'cancelled']);
    });

    it('takes a dismissal for cancelled, never for an option', async () => {
      open('plain');
      const turn = session.conversation.send('permission');
      await session.until((c) => c.model.state.permissions.size === 1);
      session.conversation.answerPermission([...session.conversation.model.state.permissions.keys()][0] ?? '', null);
      await turn.done;
      assert.match(said(), /"outcome":"cancelled"/);
    });

    it('closes a question that the agent withdraws', async () => {
      open('plain');
      await session.conversation.send('withdraw').done;
      assert.equal(session.conversation.model.state.permissions.size, 0);
      assert.match(said(), /cancelled/);
    });

    it('shows a question without options, which can only be dismissed', async () => {
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
      assert.match(said(), /"outcome":"cancelled"/);
    });
  });

  describe('turn ends', () => {
    for (const when of ['before', 'after', 'late', 'twice', 'wrong-id', 'no-id', 'unadvertised'] as const) {
      it(`are known although turn_complete comes ${when}`, async () => {
        open({ turnComplete: { when, delayMs: 20 } });
        await session.conversation.send('say a').done;
        await session.conversation.send('say b').done;
        const { turns } = snapshotOf(session.conversation);
        assert.deepEqual(
          turns.map(({ stopReason }) => stopReason),
          ['end_turn', 'end_turn'],
        );
        assert.equal(said().replaceAll('\n', ''), 'ab');
      });
    }

    it('are known although a promised turn_complete never comes', async () => {
      open({ turnComplete: { when: 'never' } }, { barrierGraceMs: 10 });
      await session.conversation.send('say a').done;
      assert.equal(snapshotOf(session.conversation).turns[0]?.barrier, 'timeout');
    });

    it('do not lose what comes after them: it is shown, as late', async () => {
      open('proposals');
      await session.conversation.send('say in time\nlate chunk').done;
      await session.until(() => kinds().includes('agent late'));
      assert.deepEqual(kinds(), ['user', 'agent', 'agent late']);
    });

    it('let a late update finish a tool call', async () => {
      open('plain');
      await session.conversation.send('late tool').done;
      await session.until((c) => snapshotOf(c).entries.some(({ tool }) => tool?.status === 'completed'));
    });

    it('show the error of a failed prompt and let the next one work', async () => {
      open('plain');
      const result = await session.conversation.send('error -32603 The model is overloaded').done;
      assert.equal(result.stopReason, 'error');
      assert.ok(
        snapshotOf(session.conversation).entries.some(
          ({ kind, text }) => kind === 'error' && text?.includes('overloaded'),
        ),
      );
      assert.equal((await session.conversation.send('say fine').done).stopReason, 'end_turn');
    });
  });

  describe('with an agent that misbehaves', () => {
    it('says that the command was not found and offers the settings', async () => {
      openAgent({ command: 'parley-no-such-agent' });
      session.conversation.send('say hello');
      await session.until((c) => c.connection.kind === 'failed');
      assert.equal(error()?.code, 'agent-not-found');
      assert.equal(error()?.stage, 'resolve');
      assert.match(error()?.message ?? '', /parley-no-such-agent/);
      assert.ok(error()?.actions.some(({ id }) => id === 'openSettings'));
      assert.equal(snapshotOf(session.conversation).queue[0]?.text, 'say hello', 'the message stays');
    });

    it('says how an agent ended that exits at once, with its last words', async () => {
      open('exit-at-once');
      await session.conversation.start();
      assert.equal(phaseOf(session.conversation), 'failed');
      assert.equal(error()?.stage, 'initialize');
      assert.match(error()?.message ?? '', /exited with code 1/);
      assert.match(error()?.stderr ?? '', /no model configured/);
    });

    it('works with an agent that prints garbage among its messages', async () => {
      open('noise-among');
      await session.conversation.send('say clear').done;
      assert.equal(said(), 'clear');
    });

    it('names the garbage where an agent prints nothing else', async () => {
      openAgent(
        {
          command: process.execPath,
          args: ['-e', 'console.log("Welcome to the wrong mode!"); setInterval(() => {}, 1e6)'],
        },
        { startTimeoutMs: () => 300 },
      );
      await session.conversation.start();
      assert.equal(error()?.stage, 'initialize');
      assert.match(error()?.hint ?? '', /Welcome to the wrong mode!/);
    });

    it('gives up on an agent that never answers initialize, and can try again', async () => {
      open('silent', { startTimeoutMs: () => 2000 });
      await session.conversation.start();
      assert.equal(error()?.code, 'stage-timeout');
      assert.equal(error()?.stage, 'initialize');
      await session.conversation.restart();
      assert.equal(readAgentLog(agentLog).filter(({ ev }) => ev === 'start').length, 2);
    });

    it('refuses an agent that answers with another protocol version', async () => {
      open('version7');
      await session.conversation.start();
      assert.equal(error()?.code, 'protocol-version');
      assert.match(error()?.message ?? '', /version 7/);
    });

    it('stops an agent that sends a message of 40 MB, keeps what came before, and starts again', async () => {
      open('plain');
      const turn = session.conversation.send('say before\nhuge 40');
      assert.equal((await turn.done).stopReason, 'error');
      await session.until((c) => c.connection.kind === 'exited');
      assert.equal(error()?.code, 'message-too-large');
      assert.match(said(), /before/);
      await session.conversation.restart();
      assert.equal((await session.conversation.send('say again').done).stopReason, 'end_turn');
    });

    it('lives with updates for sessions and tool calls that nobody knows, and with malformed ones', async () => {
      open('plain');
      await session.conversation.send('unknown-session\nunknown-tool\nmalformed\nbogus-answer\nbatch\nsay still here')
        .done;
      assert.match(said(), /still here/);
      const tools = snapshotOf(session.conversation).entries.flatMap(({ tool }) =>
        tool ? [`${tool.id} ${tool.status} ${tool.title}`] : [],
      );
      assert.ok(tools.includes('unseen completed Announced late'), tools.join());
    });

    it('asks before a file outside of the folder is read, and refuses without a yes', async () => {
      open('plain');
      await writeFile(join(folder, 'inside.txt'), 'one\ntwo\nthree\n');
      await session.conversation.send(
        `read ${join(folder, 'inside.txt')} 2 1\nread /etc/hostname\nread ${join(folder, 'missing.txt')}`,
      ).done;
      assert.match(said(), /"content":"two/);
      assert.match(said(), /-32003/);
      assert.match(said(), /-32002/);
    });

    it('refuses terminals that the session does not have, and shows one that only the agent knows', async () => {
      open('plain');
      await session.conversation.send('terminal-foreign\nterminal-missing\nsay still here').done;
      assert.match(said(), /still here/);
      assert.match(said(), /there-is-no-such-program-7f3a did not start/);
    });

    it('notices that an agent closed its output but lives, and ends it', async () => {
      open({ ignoreStdinEnd: true });
      const turn = session.conversation.send('deaf');
      assert.equal((await turn.done).stopReason, 'error');
      await session.until((c) => c.connection.kind === 'exited');
      assert.equal(error()?.code, 'agent-closed-output');
      assert.match(said(), /I will say nothing more/);
    });

    for (const how of ['3', 'SIGKILL']) {
      it(`keeps everything where an agent dies in mid-turn (${how}), says how, and the next attempt works`, async () => {
        open('plain');
        const turn = session.conversation.send(`die ${how}`);
        await session.until((c) => c.isBusy);
        const waiting = session.conversation.send('say after');
        assert.equal((await turn.done).stopReason, 'error');
        await session.until((c) => c.connection.kind === 'exited');
        assert.match(said(), /last words/);
        assert.match(error()?.message ?? '', how === '3' ? /code 3/ : /SIGKILL/);
        assert.match(error()?.stderr ?? '', /terribly wrong/);
        const snapshot = snapshotOf(session.conversation);
        assert.equal(snapshot.turns[0]?.barrier, 'exit');
        assert.ok(snapshot.entries.some(({ tool }) => tool?.status === 'cancelled'));
        assert.deepEqual(
          snapshot.queue.map(({ text, state }) => [text, state]),
          [['say after', 'paused']],
        );
        session.conversation.resumeQueue();
        assert.equal((await waiting.done).stopReason, 'end_turn');
        assert.match(said(), /after/);
      });
    }

    it('asks to sign in where the agent wants it, and goes on afterwards', async () => {
      open('needs-sign-in');
      session.conversation.send('say hello');
      await session.until((c) => c.connection.kind === 'authRequired');
      assert.deepEqual(
        error()?.actions.map(({ id }) => id),
        ['signIn:login', 'restart', 'selectAgent'],
      );
      await session.conversation.signIn('login');
      await session.until((c) => !c.isBusy && c.queue.items.length === 0);
      assert.equal(said(), 'hello');
    });

    it('starts nothing in a workspace that is not trusted, and keeps what was typed', async () => {
      open('plain', { isTrusted: () => false });
      assert.throws(() => session.conversation.send('say x'), { code: 'untrusted-workspace' });
      await session.conversation.start();
      assert.equal(error()?.code, 'untrusted-workspace');
      assert.deepEqual(readAgentLog(agentLog), []);
    });

    it('leaves no process behind, even of an agent that ignores every polite request', async () => {
      open('stubborn');
      await session.conversation.start();
      const pids = readAgentLog(agentLog).flatMap((line) =>
        line.ev === 'child' ? [line.pid, Number(line.child)] : [],
      );
      assert.equal(pids.length, 2);
      await session.close();
      for (const pid of pids) assert.ok(await isGone(pid), `${pid} still runs`);
    });
  });
});
