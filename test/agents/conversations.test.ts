// Real agents in Parley's own Conversation, in plain Node: a first day with each, in every version
// of the protocol that it speaks, and one golden transcript for all of them. What a run came to is
// in out/agents/*.txt; after a wanted change the golden file is edited by hand from there.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentRun } from './agentRun';
import { goldenTranscript } from './goldenTranscript';
import { type ModelServer, startModelServer } from './modelServer';
import { realAgents } from './realAgents';

const runs = [
  ['claude', 1],
  ['claude', 2],
  ['gemini', 1],
  ['opencode', 1],
  ['codex', 1],
  ['codex', 2],
] as const;

describe('real agents in a conversation', function () {
  this.timeout(120_000);
  let folder: string;
  let model: ModelServer;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley agents-')));
    model = await startModelServer();
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const [id, protocol] of runs) {
    describe(`${id} in version ${protocol}`, () => {
      let run: AgentRun;
      let cwd: string;
      let sessionId: string;

      before(async () => {
        const scratch = join(folder, `${id} ${protocol}`);
        cwd = join(scratch, 'work');
        await mkdir(cwd, { recursive: true });
        const agents = await realAgents(join(scratch, 'homes'), model.url);
        run = new AgentRun(agents.find((one) => one.id === id) ?? assert.fail(`no ${id}`), protocol, cwd, scratch);
        await run.open('a new session', { kind: 'new' });
        sessionId = run.conversation.sessionId ?? assert.fail();
      });

      after(() => run?.close());

      it('streams its text', async () => {
        assert.equal(await run.play('text'), 'end_turn');
      });

      it('shows thoughts as separate messages', async () => {
        assert.equal(await run.play('think'), 'end_turn');
      });

      it('writes a file with permission', async () => {
        assert.equal(await run.play('write'), 'end_turn');
        assert.equal(await readFile(join(cwd, 'written.txt'), 'utf8'), 'line one\nline two\n');
      });

      it('runs no rejected command', async () => {
        await run.play('command', 'reject');
        assert.equal(existsSync(join(cwd, 'ran.txt')), false);
      });

      it('runs a command with permission', async () => {
        assert.equal(await run.play('command'), 'end_turn');
        assert.ok(existsSync(join(cwd, 'ran.txt')));
      });

      it('stops in mid-stream', async () => {
        assert.equal(await run.stopInMidStream(), 'cancelled');
      });

      it('works in the next turn after a stop', async () => {
        assert.equal(await run.play('text'), 'end_turn');
        await run.drawOffer();
      });

      it('lists its sessions', async function () {
        if (!run.conversation.ops.can('list')) this.skip();
        await run.drawList();
      });

      it('adds only the next turn to a transcript when another process opens its session', async function () {
        if (!run.conversation.ops.can('load') && !run.conversation.ops.can('resume')) this.skip();
        const before = run.standing();
        assert.ok(before.length > 10);
        await run.reopen('opened again beside the transcript', sessionId);
        // Some agents repeat the past only after they have answered that the session is open.
        assert.equal(await run.play('text'), 'end_turn');
        const after = run.standing();
        assert.deepEqual(after.slice(0, before.length), before);
        const added = after.slice(before.length).map((line) => line.split(':')[0]);
        // Codex warns in the first turn of each process.
        assert.deepEqual(
          added.filter((kind) => kind !== 'notice'),
          ['user', 'agent', 'turn of the user ends'],
        );
      });

      it('replays a reopened session in a new process', async function () {
        if (!run.conversation.ops.can('load') && !run.conversation.ops.can('resume')) this.skip();
        await run.open('opened again, to be shown', { kind: 'reopen', sessionId, transcript: 'replay' });
        run.draw('the past');
        assert.equal(await run.play('text'), 'end_turn');
        await run.drawOffer();
      });

      it('resumes a session without repeating its known transcript', async function () {
        if (!run.conversation.ops.can('resume')) this.skip();
        await run.open('opened again, transcript at hand', { kind: 'reopen', sessionId, transcript: 'keep' });
        assert.deepEqual(run.conversation.model.state.entries, []);
        assert.equal(await run.play('text'), 'end_turn');
        await run.drawOffer();
      });

      it('forks a session', async function () {
        if (!run.conversation.ops.can('fork')) this.skip();
        await run.open('forked', { kind: 'fork', sessionId });
        assert.notEqual(run.conversation.sessionId, sessionId);
        run.draw('the past');
        assert.equal(await run.play('text'), 'end_turn');
        await run.drawOffer();
      });

      it('has all its updates handled, and the expected transcript', async () => {
        await run.close();
        const { sent, heard } = run.counts();
        assert.equal(heard, sent);
        await mkdir('out/agents', { recursive: true });
        await writeFile(`out/agents/${id}.v${protocol}.txt`, `${run.lines.join('\n')}\n`);
        const golden = goldenTranscript(id, protocol);
        assert.deepEqual(run.lines, golden.lines);
        const words = `${golden.lines.length} lines, ${golden.own} of this version alone`;
        process.stdout.write(`      ${id} in version ${protocol}: ${sent} updates sent, ${heard} heard; ${words}\n`);
      });
    });
  }
});
