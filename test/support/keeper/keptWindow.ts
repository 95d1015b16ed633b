// Windows with a real journal whose agent a real keeper owns: what they leave, the next one finds.
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log';
import { Keepers } from '../../../src/client/transport/keepers';
import { FaultWindow, keepingAgent } from '../faults/faultWindow';

/**
 * Opens the window of a folder, and begins to attach to its agent or to start it.
 * @param now milliseconds since 1970
 */
export function openKept(folder: string, program: string, now: () => number): FaultWindow {
  const agent = keepingAgent(folder, { turnComplete: true, reopens: 'load' });
  const services = { keepers: keepersOf(folder, program), clock: { now } };
  const window = new FaultWindow({ folder, agent, services });
  void window.conversation.start();
  return window;
}

export function keepersOf(folder: string, program: string): Keepers {
  return new Keepers({ folder: join(folder, 'keepers'), program, policy: () => 'keep', log: silentLog });
}
