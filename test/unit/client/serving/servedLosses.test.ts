// Runs whose message gets no turn, or whose turn is lost: each prompt reaches the agent in its own run or never.
import assert from 'node:assert/strict';
import { parseAgents } from '../../../../src/agents/agentDefinition';
import type { Turn } from '../../../../src/session/model/state';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { testConversation } from '../../../support/sessions/conversation';
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

  it('never sends the message of an earlier run, whose session the agent had lost', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'lost' } });
    assert.deepEqual(await bench.run('one'), { said: 'echo one' });
    const two = await bench.run('two');
    assert.deepEqual(bench.waiting, []);
    const three = await bench.run('three');
    assert.deepEqual(three, { said: 'echo three' });
    const sent = lossy.prompts.map(({ text }) => text);
    assert.deepEqual(sent, two.error === undefined ? ['one', 'two', 'two', 'three'] : ['one', 'two', 'three']);
    assert.equal(lossy.count('session/new'), 2);
    assert.match(lossy.prompts.map(({ whole }) => whole).join(), /Transcript of .*echo one/);
  });

  it('never sends the message of an earlier run that an unresponsive agent was not given', async () => {
    const { lossy, bench } = await begin({ status: ['live', 'mute'] }, silent);
    await bench.run('one');
    const two = await skipTime(() => bench.run('two'));
    assert.match(two.error ?? '', /responding/);
    assert.deepEqual(bench.waiting, []);
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.deepEqual(
      lossy.prompts.map(({ text }) => text),
      ['one', 'three'],
    );
    assert.equal(lossy.count('session/new'), 1);
  });

  for (const load of ['not-found', 'fails'] as const)
    it(`begins a new agent session after one that cannot be loaded again: ${load}`, async () => {
      const { lossy, bench } = await begin({ prompts: { 2: 'lost' }, load });
      await bench.run('one');
      await bench.run('two');
      assert.deepEqual(bench.waiting, []);
      assert.deepEqual(await bench.run('three'), { said: 'echo three' });
      assert.deepEqual(await bench.run('four'), { said: 'echo four' });
      assert.equal(lossy.count('session/new'), 2);
    });

  it('begins a new agent where one has lost its session and opens no other', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'lost' }, opensOne: true });
    await bench.run('one');
    assert.notEqual((await bench.run('two')).error, undefined);
    assert.deepEqual(bench.waiting, []);
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.equal(lossy.count('initialize'), 2);
    assert.equal(bench.made[0]?.conversation.connection.kind, 'idle');
  });

  it('goes on in an agent session that could be loaded again', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'lost' }, load: 'opens' });
    await bench.run('one');
    assert.deepEqual(await bench.run('two'), { said: 'echo two' });
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.equal(lossy.count('session/new'), 1);
  });

  it('fails with the words of an agent that refuses, and leaves the next run alone', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'refuse' } });
    await bench.run('one');
    assert.deepEqual(await bench.run('two'), { said: '', error: 'refuse it is' });
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.equal(lossy.count('session/new'), 1);
  });

  it('fails where the agent wants a sign-in, and never sends that message again', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'sign-in' } });
    await bench.run('one');
    assert.match((await bench.run('two')).error ?? '', /needs a sign-in/);
    assert.deepEqual(bench.waiting, []);
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.deepEqual(
      lossy.prompts.map(({ text }) => text),
      ['one', 'two', 'three'],
    );
  });

  for (const fate of ['die', 'say-and-die'] as const)
    it(`begins a new agent after one that ended in its turn: ${fate}`, async () => {
      const { lossy, bench } = await begin({ prompts: { 2: fate } });
      await bench.run('one');
      const two = await bench.run('two');
      assert.match(two.error ?? '', /lossy.*3/);
      assert.equal(two.said, fate === 'die' ? '' : 'echo two');
      assert.deepEqual(bench.waiting, []);
      assert.deepEqual(await bench.run('three'), { said: 'echo three' });
      assert.equal(lossy.prompts.length, 3);
      assert.equal(bench.agent.size, 1);
    });

  it('begins a new agent after one that ended between two runs', async () => {
    const { lossy, bench } = await begin({});
    await bench.run('one');
    lossy.crash();
    await bench.made[0]?.until(({ connection }) => connection.kind === 'exited');
    assert.deepEqual(await bench.run('two'), { said: 'echo two' });
    assert.match(lossy.prompts.at(-1)?.whole ?? '', /Transcript of .*echo one/);
  });

  it('takes its message back where it is cancelled while the agent starts', async () => {
    const { lossy, bench } = await begin({ isSlow: true });
    const abort = new AbortController();
    const one = bench.run('one', abort.signal);
    while (lossy.count('session/new') === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort(new Error('gone'));
    assert.deepEqual(await one, { said: '', error: 'gone' });
    assert.deepEqual(bench.waiting, []);
    const two = bench.run('two');
    lossy.open();
    assert.deepEqual(await two, { said: 'echo two' });
    assert.deepEqual(
      lossy.prompts.map(({ text }) => text),
      ['two'],
    );
  });

  it('stops its turn where its caller goes away, and leaves the agent to the next run', async () => {
    const { lossy, bench } = await begin({ prompts: { 1: 'wait' } });
    const abort = new AbortController();
    const one = await bench.run('one', abort.signal, () => abort.abort(new Error('gone')));
    assert.deepEqual(one, { said: 'echo one', error: 'gone' });
    assert.deepEqual(await bench.run('two'), { said: 'echo two' });
    assert.deepEqual([lossy.count('session/cancel'), lossy.count('session/new')], [1, 1]);
  });

  it('ends an agent that goes on with a cancelled run', async () => {
    const { lossy, bench } = await begin({ prompts: { 2: 'deaf' } });
    await bench.run('one');
    const abort = new AbortController();
    await skipTime(() => bench.run('two', abort.signal, () => abort.abort(new Error('gone'))));
    assert.equal(bench.agent.size, 0);
    assert.deepEqual(await bench.run('three'), { said: 'echo three' });
    assert.equal(lossy.count('session/new'), 2);
  });

  it('has the reasons and tokens of its turns from the same conversation as the panel', async () => {
    const manner: LossyManner = { prompts: { 2: 'refuse', 3: 'max_tokens', 4: 'refusal' } };
    const { bench } = await begin(manner);
    const errors: (string | undefined)[] = [];
    for (const text of ['one', 'two', 'three', 'four', 'five']) errors.push((await bench.run(text)).error);
    const served = bench.made[0]?.conversation.model.state.turns ?? assert.fail();
    const [agent] = parseAgents({ lossy: { command: process.execPath, args: ['lossy'], env: {} } }).agents;
    const live = testConversation({
      agent: agent ?? assert.fail(),
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
