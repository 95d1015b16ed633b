// What an agent advertises of the parts that are judged.
import { advertises } from '../../acp/proposals/announced';
import { at, isMarked } from '../../base/untrusted';
import type { Offers, ProtocolVersion } from './rule';

export function offersOf(raw: unknown, version: ProtocolVersion): Offers {
  const marked = (name: string): boolean => isMarked(at(raw, 'agentCapabilities', 'sessionCapabilities', name));
  // In version 2 they come with sessions.
  const hasSessions = version === 2 && isMarked(at(raw, 'capabilities', 'session'));
  return {
    ready: advertises(raw, 'ready'),
    status: advertises(raw, 'status'),
    turnComplete: advertises(raw, 'turnComplete'),
    load: version === 1 && at(raw, 'agentCapabilities', 'loadSession') === true,
    resume: version === 2 ? hasSessions : marked('resume'),
    list: version === 2 ? hasSessions : marked('list'),
    close: version === 2 ? hasSessions : marked('close'),
  };
}
