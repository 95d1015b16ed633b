// Messages that are put into the running turns of real agents: between words, and while a tool call waits for an answer.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentRun } from './agentRun';
import { type ModelServer, startModelServer } from './modelServer';
import { realAgents } from './realAgents';

const runs = [
  ['claude', 1],
  ['codex', 1],
  ['codex', 2],
] as const;

describe('a message put into the turn of a real agent', function () {
  this.timeout(120_000);
  let folder: string;
  let model: ModelServer;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-steering-')));
    model = await startModelServer();
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const [id, protocol] of runs)
    for (const [when, script] of [
      ['between words', 'brief'],
      ['while a command waits for permission', 'command'],
    ] as const)
      it(`is part of it: ${id} in version ${protocol}, ${when}`, async () => {
        const scratch = join(folder, `${id}-${protocol}-${script}`);
        const cwd = join(scratch, 'work');
        await mkdir(cwd, { recursive: true });
        const agents = await realAgents(join(scratch, 'homes'), model.url);
        const agent = agents.find((one) => one.id === id) ?? assert.fail(`no ${id}`);
        const run = new AgentRun(agent, protocol, cwd, scratch);
        try {
          await run.open('a new session', { kind: 'new' });
          const { outcome, users, stopReason } = await run.steer(script);
          assert.deepEqual([outcome, stopReason], ['injected', 'end_turn'], run.lines.join('\n'));
          assert.deepEqual(users, ['t1', 't1'], 'both messages once, in one turn');
        } finally {
          await run.close();
        }
      });
});
