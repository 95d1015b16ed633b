// Compares the versions of a session on both sides and decides what to send; pure. The client's
// descriptor is authoritative: it is never replaced by a shorter one, and additions on two servers
// are a fork that the user decides on.

import { createHash } from 'node:crypto';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { SessionDescriptor } from '../model/model';
import { hashOf, urlIdentity, withHash } from '../model/resourceUrl';

/** `extends`: ours is longer. */
export interface HistoryRelation {
  readonly relation: 'same' | 'extends' | 'extendedBy' | 'fork';
  readonly common: number;
}

/** By common prefix. Signatures are ignored; a different hash is a different object. */
export function compareHistories(ours: readonly string[], theirs: readonly string[]): HistoryRelation {
  let common = 0;
  while (common < ours.length && common < theirs.length && isSameEntry(ours[common]!, theirs[common]!)) common++;
  if (common < ours.length && common < theirs.length) return { relation: 'fork', common };
  if (ours.length === theirs.length) return { relation: 'same', common };
  return { relation: ours.length > theirs.length ? 'extends' : 'extendedBy', common };
}

function isSameEntry(a: string, b: string): boolean {
  if (a === b) return true;
  const hashes = [hashOf(a), hashOf(b)];
  return urlIdentity(a) === urlIdentity(b) && (hashes.includes(undefined) || hashes[0] === hashes[1]);
}

/** The response to `GET /sessions/{id}`; `unknown` is a 404. */
export type ServerAnswer =
  | { readonly kind: 'session'; readonly descriptor: SessionDescriptor }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable' };

export interface Fork {
  readonly kind: 'fork';
  readonly common: number;
  readonly ours: SessionDescriptor;
  readonly theirs: SessionDescriptor;
}

/** Decides what the next server gets. Throws ParleyError `other-session`. */
export function decideHandOver(
  ours: SessionDescriptor,
  answer: ServerAnswer,
): { readonly kind: 'send'; readonly descriptor: SessionDescriptor } | Fork {
  if (answer.kind !== 'session') return { kind: 'send', descriptor: ours };
  const theirs = requireSameSession(ours, answer.descriptor);
  const { relation, common } = compareHistories(ours.history, theirs.history);
  if (relation === 'fork') return { kind: 'fork', common, ours, theirs };
  return { kind: 'send', descriptor: relation === 'extends' ? ours : adopt(ours, theirs) };
}

export type RunCheck =
  | { readonly kind: 'kept'; readonly descriptor: SessionDescriptor }
  | {
      /** The server lost the earlier messages: send `descriptor` in full and notify the user. */
      readonly kind: 'forgotten';
      readonly missing: number;
      readonly descriptor: SessionDescriptor;
    }
  | Fork
  | { readonly kind: 'unverified' };

/** Checks that the server has everything. Throws ParleyError `other-session`. */
export function checkAfterRun(ours: SessionDescriptor, answer: ServerAnswer): RunCheck {
  if (answer.kind === 'unreachable') return { kind: 'unverified' };
  if (answer.kind === 'unknown') return { kind: 'forgotten', missing: ours.history.length, descriptor: ours };
  const theirs = requireSameSession(ours, answer.descriptor);
  const { relation, common } = compareHistories(ours.history, theirs.history);
  if (relation === 'same' || relation === 'extendedBy') return { kind: 'kept', descriptor: adopt(ours, theirs) };
  const missing = ours.history.length - common;
  if (relation === 'extends') return { kind: 'forgotten', missing, descriptor: ours };
  if (common > 0) return { kind: 'fork', common, ours, theirs };
  // The server started over. Its messages are appended to ours.
  const known = new Set(ours.history.map(urlIdentity));
  const added = theirs.history.filter((url) => !known.has(urlIdentity(url)));
  return { kind: 'forgotten', missing, descriptor: { ...ours, history: [...ours.history, ...added] } };
}

/** Uses their newly signed URLs, our hashes, and our state unless they have one. */
function adopt(ours: SessionDescriptor, theirs: SessionDescriptor): SessionDescriptor {
  const history = theirs.history.map((url, index) => {
    const hash = hashOf(ours.history[index] ?? '');
    return hash === undefined || hashOf(url) !== undefined ? url : withHash(url, hash);
  });
  const state = theirs.state ?? ours.state;
  return { ...ours, ...theirs, history, ...(state !== undefined && { state }) };
}

function requireSameSession(ours: SessionDescriptor, theirs: SessionDescriptor): SessionDescriptor {
  if (theirs.id.toLowerCase() === ours.id.toLowerCase()) return theirs;
  throw new ParleyError('other-session', localizable('The server responded with a different session.'));
}

/** Prefix of the ids of buttons that show a branch; the branch's name follows. */
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

export function nameOf(url: string): string {
  return createHash('sha256').update(urlIdentity(url)).digest('hex').slice(0, 16);
}
