// Names a branch of a session by the first message that only it has, so that the name stays the
// same while the branch grows.
import { createHash } from 'node:crypto';
import type { SessionDescriptor } from '../model/model';
import { urlIdentity } from '../model/resourceUrl';
import { compareHistories, type Fork } from './handOver';

/** The ids of buttons that show a branch begin with it; the branch's name follows. */
export const SHOW_BRANCH = 'branch:';

export function branchAction({ common, theirs }: Fork): { readonly id: string } {
  return { id: `${SHOW_BRANCH}${nameOf(theirs.history[common] ?? '')}` };
}

export function isBranch({ history }: SessionDescriptor, name: string): boolean {
  return history.some((url) => nameOf(url) === name);
}

export function isKnownBranch({ history }: SessionDescriptor, known: readonly SessionDescriptor[]): boolean {
  return known.some((one) => compareHistories(one.history, history).relation !== 'fork');
}

/** Names the message behind a link, however it is signed. */
export function nameOf(url: string): string {
  return createHash('sha256').update(urlIdentity(url)).digest('hex').slice(0, 16);
}
