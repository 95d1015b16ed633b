// Real agents that fork a session at a message: what the fork remembers is what the agent itself repeats of it in another process.
// The process of the forked session still runs, as in a chat.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pastOf } from '../../src/client/connection/sessionOpenStrategy';
import { snapshotOf } from '../../src/client/view/snapshot';
import { forkPointBefore } from '../../src/session/model/forkPoint';
import { AgentRun } from './agentRun';
import { type ModelServer, startModelServer } from './modelServer';
import { realAgents } from './realAgents';

const runs = [
  ['claude', 1, true],
  ['claude', 2, true],
  ['codex', 1, true],
  ['codex', 2, true],
  ['opencode', 1, false],
] as const;

describe('real agents that fork a session at a message', function () {
  this.timeout(120_000);
  let folder: string;
  let model: ModelServer;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-forks-')));
    model = await startModelServer();
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const [id, protocol, forks] of runs)
    it(`${id} in version ${protocol} ${forks ? 'remembers what was said up to it' : 'gets the transcript'}`, async () => {
      const scratch = join(folder, `${id} ${protocol}`);
      const cwd = join(scratch, 'work');
      await mkdir(cwd, { recursive: true });
      const agents = await realAgents(join(scratch, 'homes'), model.url);
      const agent = agents.find((one) => one.id === id) ?? assert.fail(`no ${id}`);
      const run = new AgentRun(agent, protocol, cwd, scratch);
      const origin = new AgentRun(agent, protocol, cwd, join(scratch, 'work'));
      try {
        await origin.open('a new session', { kind: 'new' });
        await origin.play('write');
        const { sessionId = '', model } = origin.conversation;
        const past = pastOf(model.state);
        const messageId = forkPointBefore(model.state.entries, model.state.entries.length) ?? assert.fail('no point');
        await origin.play('text');
        await run.open('forked before the second message', { kind: 'fork', sessionId, messageId }, past);
        const notices = snapshotOf(run.conversation).entries.flatMap(({ kind, text }) =>
          kind === 'notice' ? [text] : [],
        );
        const said = forks ? /The agent knows the messages above/ : /can't fork sessions at a message/;
        assert.match(notices.join('\n'), said);
        assert.equal(await run.play('think'), 'end_turn');
        const { sessionId: fork = '' } = run.conversation;
        assert.notEqual(fork, sessionId);
        await run.open('opened again', { kind: 'reopen', sessionId: fork, transcript: 'replay' });
        const repeated = run.standing().filter((line) => line.startsWith('user'));
        const scripts = repeated.map((line) => /<(\w+)>/.exec(line)?.[1]);
        assert.deepEqual(scripts.at(-1), 'think');
        assert.deepEqual(scripts, forks ? ['write', 'think'] : ['think']);
      } finally {
        await run.close();
        await origin.close();
      }
      const wire = await readFile(join(scratch, `${id}.v${protocol}.1.ndjson`), 'utf8');
      assert.equal(wire.split('"code":-32602').length - 1, forks ? 1 : 0, 'refuses the message that does not exist');
    });
});
