// Concurrent calls of one session.
import assert from 'node:assert/strict';
import { setImmediate as tick } from 'node:timers/promises';
import type { ToolCaller } from '../../../src/editorTools/toolCaller';
import { CallLimit, limitCalls } from '../../../src/editorTools/toolCaller';

describe('editorTools/callLimit', () => {
  const { signal } = new AbortController();

  it('runs a few calls at a time, in order, and rejects the excess', async () => {
    const limit = new CallLimit({ running: 2, waiting: 3 });
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const call = (id: number) =>
      limit.run(
        () =>
          new Promise<number>((resolve) => {
            started.push(id);
            finish.push(() => resolve(id));
          }),
        signal,
      );
    const calls = [0, 1, 2, 3, 4].map(call);
    await assert.rejects(call(5), /Too many calls at once/);
    assert.deepEqual(started, [0, 1]);
    for (let ended = 0; ended < 5; ended++) {
      finish[ended]?.();
      assert.equal(await calls[ended], ended);
      await tick();
      assert.deepEqual(started, [0, 1, 2, 3, 4].slice(0, ended + 3));
    }
    const after = call(6);
    finish.at(-1)?.();
    assert.equal(await after, 6);
  });

  it('frees a slot when a call fails or is cancelled while waiting', async () => {
    const limit = new CallLimit({ running: 1, waiting: 1 });
    let fail: (error: Error) => void = () => undefined;
    const failing = limit.run(
      () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
      signal,
    );
    const abort = new AbortController();
    let ran = 0;
    const withdrawn = limit.run(async () => ran++, abort.signal);
    abort.abort(new Error('withdrawn'));
    await assert.rejects(withdrawn, /withdrawn/);
    const next = limit.run(async () => 'next', signal);
    fail(new Error('broken'));
    await assert.rejects(failing, /broken/);
    assert.equal(await next, 'next');
    assert.equal(ran, 0);
    assert.equal(await limit.run(async () => 'later', signal), 'later');
  });

  it('runs reads while changes wait for the user', async () => {
    const caller: ToolCaller = {
      version: '1',
      tools: () => [],
      call: async (name) => {
        if (name === 'rename_symbol') await new Promise(() => undefined);
        return { summary: name };
      },
      others: { list: () => [], call: () => assert.fail() },
    };
    const limited = limitCalls(caller);
    for (let call = 0; call < 20; call++)
      void limited.call('rename_symbol', { symbol: 'a', new_name: 'b' }, signal).catch(() => undefined);
    await assert.rejects(limited.call('rename_symbol', { symbol: 'a', new_name: 'b' }, signal), /Too many/);
    assert.deepEqual(await limited.call('get_selection', {}, signal), { summary: 'get_selection' });
  });
});
