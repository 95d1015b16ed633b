// Dialects that only read, and where what they read goes.
import type { Dialect, UpdateTargets } from '../../../src/acp/protocol/dialect';
import { V1Agent } from '../../../src/acp/v1/v1Agent';
import { V2Agent } from '../../../src/acp/v2/v2Agent';
import { silentLog } from '../../../src/base/log';

export function readerOf(version: 1 | 2): Dialect {
  const caller = { request: () => Promise.reject(new Error('only reads')), notify: async () => {} };
  return version === 2 ? new V2Agent(caller) : new V1Agent(caller);
}

export function readInto(emit: UpdateTargets['emit'], more: Partial<UpdateTargets> = {}): UpdateTargets {
  return { emit, onTurnComplete() {}, onState() {}, log: silentLog, ...more };
}
