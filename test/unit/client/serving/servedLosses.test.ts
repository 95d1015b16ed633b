// Tests runs without a turn or with a lost one: each prompt is delivered in its own run or never.

import assert from 'node:assert/strict';
import type { Turn } from '../../../../src/session/model/state';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { parseAgent, testConversation } from '../../../support/sessions/conversation';
import { LossyAgent, type LossyManner } from '../../../support/sessions/lossyAgent';
import { skipTime } from '../../../support/skipTime';
import { RunBench } from './runBench';

const silent = { quietMs: 0 };

describe('a run of a served agent', function () {
  this.timeout(20_000);
  const benches: RunBench[] = [];

  afterEach(async () => {
    for (const bench of benches.splice(0)) await bench.close();
    await removeScratch();
  });

  async function begin(manner: LossyManner, services = {}): Promise<{ lossy: LossyAgent; bench: RunBench }> {
    const lossy = new LossyAgent(manner);
    const bench = await RunBench.begin(lossy, services);
    benches.push(bench);
    return { lossy, bench };
  }

  it('never sends the undelivered message of an earlier run', async () => {
    const { lossy, bench } = await begin({ status: ['live', 'mute'] }, silent);
    await bench.run('one');
    const two = await skipTime(() => bench.run('two'));
    assert.match(two.error ?? '', /responding/);
    assert.deepEqual(bench.waiting, []);
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.deepEqual(pluck(lossy.prompts, 'text'), ['one', 'three']);
    assert.equal(lossy.count('session/new'), 1);
  });

  it('starts a new agent if the agent has lost its session and opens no other', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'lost' }, opensOne: true });
    await bench.run('one');
    assert.notEqual((await bench.run('two')).error, undefined);
    assert.deepEqual(bench.waiting, []);
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.equal(lossy.count('initialize'), 2);
    assert.equal(bench.made[0]?.conversation.connection.kind, 'idle');
  });

  it('fails with the agent’s message if it refuses, without affecting the next run', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'refuse' } });
    await bench.run('one');
    assert.deepEqual(await bench.run('two'), { said: '', error: 'refuse it is' });
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.equal(lossy.count('session/new'), 1);
  });

  it('takes stop reasons and tokens from the same conversation as the panel', async () => {
    const manner: LossyManner = { prompts: { 2: 'refuse', 3: 'max_tokens', 4: 'refusal' } };
    const { bench } = await begin(manner);
    const errors: (string | undefined)[] = [];
    for (const text of ['one', 'two', 'three', 'four', 'five']) errors.push((await bench.run(text)).error);
    const served = bench.made[0]?.conversation.model.state.turns ?? assert.fail();
    const agent = parseAgent({ command: process.execPath, args: ['lossy'], env: {} }, 'lossy');
    const live = testConversation({
      agent,
      cwd: await scratchFolder(),
      services: { startProcess: new LossyAgent(manner).start },
    });
    for (const text of ['one', 'two', 'three', 'four', 'five']) await live.conversation.send(text).done;
    const told = ({ stopReason, tokens }: Readonly<Turn>) => [stopReason, tokens];
    assert.deepEqual(served.map(told), live.conversation.model.state.turns.map(told));
    assert.deepEqual(served.map(told), [
      ['end_turn', 10],
      ['error', undefined],
      ['max_tokens', 30],
      ['refusal', 40],
      ['end_turn', 50],
    ]);
    assert.match(errors.join('|'), /^\|refuse it is\|The answer was cut off.*\|The agent refuses.*\|$/);
    await live.close();
  });
});
