// Windows over one folder, for the tests of a `describe`: whatever is still open after a test is closed, and the folder is gone.

import { removeScratch, scratchFolder } from '../scratch';
import { FaultWindow, type FaultWindowOptions, keepingAgent } from './faultWindow';

export interface FaultWindows {
  readonly folder: string;
  start(options?: Partial<FaultWindowOptions>): FaultWindow;
  forget(window: FaultWindow): void;
}

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
