// Answers that may never come, and bursts of changes.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { inTime } from '../../../src/editorTools/inTime';
import { untilQuiet } from '../../../src/editorTools/untilQuiet';

const HOUR = 3_600_000;
const never = new Promise<never>(() => undefined);

describe('editorTools/inTime', () => {
  it('returns the answer, and leaves no timer or listener', async () => {
    const { signal } = new AbortController();
    assert.equal(await inTime(Promise.resolve(7), HOUR, signal), 7);
    await assert.rejects(inTime(Promise.reject(new Error('broken')), HOUR, signal), /broken/);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('times out if the server hangs', async () => {
    const { signal } = new AbortController();
    await assert.rejects(inTime(never, 20, signal), /did not answer within 0\.02 s/);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('rejects as soon as the call is cancelled', async () => {
    const abort = new AbortController();
    const answer = inTime(never, HOUR, abort.signal);
    abort.abort(new Error('withdrawn'));
    await assert.rejects(answer, /withdrawn/);
    await assert.rejects(inTime(never, HOUR, abort.signal), /withdrawn/);
  });
});

describe('editorTools/untilQuiet', () => {
  it('waits for the last change of a burst', async () => {
    const { signal } = new AbortController();
    let change: () => void = () => undefined;
    let isWatched = true;
    let isDone = false;
    const waiting = untilQuiet(
      (changed) => {
        change = changed;
        return {
          dispose: () => {
            isWatched = false;
          },
        };
      },
      { first: HOUR, quiet: 5, last: HOUR },
      signal,
    ).then(() => {
      isDone = true;
    });
    await Promise.resolve();
    assert.equal(isDone, false);
    change();
    change();
    await waiting;
    assert.equal(isWatched, false);
  });

  it('ends without a change, and if changes do not end', async () => {
    const { signal } = new AbortController();
    await untilQuiet(() => ({ dispose: () => undefined }), { first: 5, quiet: HOUR, last: HOUR }, signal);
    const endless = (changed: () => void) => {
      const timer = setInterval(changed, 1);
      return { dispose: () => clearInterval(timer) };
    };
    await untilQuiet(endless, { first: HOUR, quiet: HOUR, last: 20 }, signal);
  });

  it('rejects if the call is cancelled before or during the wait', async () => {
    const abort = new AbortController();
    const times = { first: HOUR, quiet: HOUR, last: HOUR };
    let watches = 0;
    const watch = () => {
      watches++;
      return { dispose: () => watches-- };
    };
    const waiting = untilQuiet(watch, times, abort.signal);
    abort.abort(new Error('withdrawn'));
    await assert.rejects(waiting, /withdrawn/);
    await assert.rejects(untilQuiet(watch, times, abort.signal), /withdrawn/);
    assert.equal(watches, 0);
  });
});
