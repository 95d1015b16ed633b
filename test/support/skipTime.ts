// Waits of the product that a test need not sit through.
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How far the clock goes in each turn of the event loop: what an agent in memory says comes long before any limit. */
const STEP_MS = 2;

/** Runs something while the time of `setTimeout` flies: timers that are set meanwhile go off in order, without a wait. */
export async function skipTime<T>(run: () => Promise<T>): Promise<T> {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let isDone = false;
    const done = run().finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await nextTurn();
      if (!hasFileRequest()) mock.timers.tick(STEP_MS);
    }
    return await done;
  } finally {
    mock.timers.reset();
  }
}

/** Files of a busy machine may take longer than the turns of the event loop in which a limit passes. */
function hasFileRequest(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
