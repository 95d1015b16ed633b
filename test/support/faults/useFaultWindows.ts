// Windows over one folder, for the tests of a `describe`: whatever is still open after a test is closed, and the folder is gone.

import { removeScratch, scratchFolder } from '../scratch';
import { FaultWindow, type FaultWindowOptions, keepingAgent } from './faultWindow';

export interface FaultWindows {
  /** There while hooks and tests run. */
  readonly folder: string;
  start(options?: Partial<FaultWindowOptions>): FaultWindow;
  /** The test has lost this one itself: it is not closed after it. */
  forget(window: FaultWindow): void;
}

/** Registers the hooks. @param script of the agent that a window has unless its options name another */
export function useFaultWindows(script: Parameters<typeof keepingAgent>[1] = {}): FaultWindows {
  let folder = '';
  const open: FaultWindow[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
  });

  afterEach(async () => {
    for (const window of open.splice(0)) await window.close();
    await removeScratch();
  });

  return {
    get folder() {
      return folder;
    },
    start(options = {}) {
      const window = new FaultWindow({ folder, agent: keepingAgent(folder, script), ...options });
      open.push(window);
      return window;
    },
    forget(window) {
      open.splice(open.indexOf(window), 1);
    },
  };
}
