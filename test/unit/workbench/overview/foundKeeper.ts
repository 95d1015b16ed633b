// A working agent's keeper, as found by a window.
import type { FoundKeeper } from '../../../../src/client/transport/keepers';
import type { KeeperState } from '../../../../src/keeper/wire';

const WORKING: KeeperState = {
  pid: 1,
  agentPid: 2,
  startedAt: 1,
  sent: 1,
  lines: 1,
  storedLine: 1,
  answered: [],
  bytes: 0,
  isHeld: false,
  isAttached: false,
  isWorking: true,
  waiting: 0,
};

export function foundKeeper(session: string, more: Partial<KeeperState> = {}): FoundKeeper {
  return {
    id: session,
    kind: 'alive',
    about: { session, agentId: 'one', agentName: 'One', folder: '/work' },
    startedAt: 1,
    host: 'here',
    state: { ...WORKING, ...more },
  };
}
