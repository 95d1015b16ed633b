// Waits of the product that a test need not sit through.
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

const STEP_MS = 2;

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

function hasFileRequest(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
}
