// Real agents that are installed only for this, in Parley's own Conversation, in plain Node: a
// first day with each. What a run came to is in out/agents/*.txt.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goneFrom } from '../support/processes';
import { AgentRun } from './agentRun';
import { GUESTS, startGuest, useGuest } from './guestAgents';
import { type ModelServer, startModelServer } from './modelServer';

describe('guests in a conversation', function () {
  this.timeout(120_000);
  let folder: string;
  let model: ModelServer;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley guests-')));
    model = await startModelServer();
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const [id, name] of GUESTS) {
    describe(name, () => {
      let run: AgentRun;
      let cwd: string;
      let sessionId: string;

      useGuest(id, async () => {
        const scratch = join(folder, id);
        cwd = join(scratch, 'work');
        await mkdir(cwd, { recursive: true });
        const guest = await startGuest(id, join(scratch, 'homes'), model.url, cwd);
        run = new AgentRun(guest.agent, 1, cwd, scratch);
        await run.open('a new session', { kind: 'new' });
        sessionId = run.conversation.sessionId ?? assert.fail();
        return { ...guest, close: () => run.close().finally(() => guest.close()) };
      });

      it('streams its text', async () => {
        assert.equal(await run.play('text'), 'end_turn');
        assert.match(run.lines.join('\n'), /^agent: .*Hello from the \*\*scripted\*\* model/m);
      });

      it(`writes a file ${id === 'openclaw' ? 'without a question' : 'with permission'}`, async () => {
        assert.equal(await run.play('write'), 'end_turn');
        assert.equal(await readFile(join(cwd, 'written.txt'), 'utf8'), 'line one\nline two\n');
        assert.equal(/^ {2}asked .*allow_once/m.test(run.lines.join('\n')), id !== 'openclaw');
      });

      it('runs no rejected command', async () => {
        await writeFile(join(cwd, 'kept.txt'), '');
        await run.play('remove', 'reject');
        assert.ok(existsSync(join(cwd, 'kept.txt')));
      });

      it('runs a command with permission, and shows its output', async () => {
        assert.equal(await run.play('command'), 'end_turn');
        assert.ok(existsSync(join(cwd, 'ran.txt')));
        assert.match(
          run.lines.slice(run.lines.lastIndexOf('-- command, allow')).join('\n'),
          /^ {2}(shows|output) .*out-42/m,
        );
      });

      it('stops in mid-stream', async () => {
        assert.equal(await run.stopInMidStream(id !== 'droid'), 'cancelled');
      });

      it('stops a running command', async () => {
        const { stopReason, pids } = await run.stopCommand(id === 'grok' || id === 'kimi' || id === 'droid');
        assert.equal(stopReason, 'cancelled');
        await Promise.all(pids.map(goneFrom));
      });

      if (id === 'grok') {
        it('has its question answered', async () => {
          assert.equal(await run.play('ask'), 'end_turn');
          assert.match(
            run.lines.slice(run.lines.lastIndexOf('-- ask')).join('\n'),
            /^tool: other completed .*\n {2}shows .*Red/m,
          );
        });

        it('has its plan approved, and leaves its plan mode', async () => {
          assert.equal(await run.play('plan'), 'end_turn');
          assert.match(
            run.lines.slice(run.lines.lastIndexOf('-- plan')).join('\n'),
            /^ {2}asked "Approve the plan\?"/m,
          );
          assert.equal(run.conversation.model.state.mode, 'default');
        });
      }

      it('works in the next turn after a stop', async () => {
        assert.equal(await run.play('text'), 'end_turn');
      });

      it('adds only the next turn to a transcript when another process opens its session', async function () {
        if (!run.conversation.ops.can('load') && !run.conversation.ops.can('resume')) this.skip();
        const before = run.standing();
        await run.reopen('opened again beside the transcript', sessionId);
        assert.equal(await run.play('text'), 'end_turn');
        const after = run.standing();
        assert.deepEqual(after.slice(0, before.length), before);
        const added = after.slice(before.length).map((line) => line.split(':')[0]);
        assert.deepEqual(
          added.filter((kind) => kind !== 'notice'),
          ['user', 'agent', 'turn of the user ends'],
        );
      });

      it('replays a reopened session in a new process', async function () {
        if (!run.conversation.ops.can('load')) this.skip();
        await run.open('opened again, to be shown', { kind: 'reopen', sessionId, transcript: 'replay' });
        run.draw('the past');
        assert.match(run.lines.slice(run.lines.lastIndexOf('-- the past')).join('\n'), /scripted/);
        assert.equal(await run.play('text'), 'end_turn');
      });

      it('has all its updates handled', async () => {
        await run.close();
        await mkdir('out/agents', { recursive: true });
        await writeFile(`out/agents/${id}.v1.txt`, `${run.lines.join('\n')}\n`);
        const { sent, heard } = run.counts();
        assert.equal(heard, sent);
        process.stdout.write(`      ${name}: ${sent} updates sent, ${heard} heard; ${run.lines.length} lines\n`);
      });
    });
  }
});
