// Attachments that the host does not have yet, kept in local storage: they are posted again by the
// page that follows if the host was dead.
import type { SessionMessage } from '../../panel/contract';
import { post } from '../host/host';
import { readStored, removeStored, store } from '../host/storage';

const STORE = { prefix: 'parley.attach.', most: 5 } as const;
/** Characters of base64 and thumbnails; local storage holds about five million. */
const MAX_CHARS = 2_000_000;

export type AttachMessage = Extract<SessionMessage, { type: 'attachImage' | 'attachFile' }>;

interface Waiting {
  readonly id: string;
  /** When it was posted, ms since 1970. */
  readonly at: number;
  readonly message: AttachMessage;
}

/** The ids of those that this page has posted. */
const posted = new Set<string>();

/** The labels of the attachments that the host has, as they were seen last. */
let known: { readonly key: string; readonly labels: readonly string[] } = { key: '', labels: [] };

/** Posts an attachment, and keeps it until the host has it. @param key null: no session is shown yet */
export function postAttachment(message: AttachMessage, key: string | null): void {
  post(message, key);
  if (key === null) return;
  const id = crypto.randomUUID();
  posted.add(id);
  const all = [...waiting(key), { id, at: Date.now(), message }];
  if (JSON.stringify(all).length <= MAX_CHARS) store(STORE, key, { all });
}

/**
 * The host shows a session, or its attachments have changed.
 * @param labels of its attachments
 */
export function attachmentsShown(key: string, labels: readonly string[]): void {
  const before = known.key === key ? known.labels : [];
  known = { key, labels };
  if (key === '') return;
  const all = waiting(key);
  const count = (some: readonly string[], name: string): number => some.filter((label) => label === name).length;
  const isThere = ({ id, message: { name } }: Waiting): boolean =>
    posted.has(id) && count(labels, name) > count(before, name);
  const left = all.filter((one) => !isThere(one));
  if (left.length === 0) removeStored(STORE, key);
  else if (left.length < all.length) store(STORE, key, { all: left });
  for (const { id, at, message } of left) {
    // Another page that is open has just posted it.
    if (posted.has(id) || at > performance.timeOrigin) continue;
    posted.add(id);
    post(message, key);
  }
}

function waiting(key: string): readonly Waiting[] {
  const all = readStored(STORE, key)?.all;
  return Array.isArray(all) ? all.filter(isWaiting) : [];
}

function isWaiting(value: unknown): value is Waiting {
  if (typeof value !== 'object' || value === null) return false;
  const { id, at, message } = value as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && typeof at === 'number' && isAttachMessage(message);
}

function isAttachMessage(value: unknown): value is AttachMessage {
  if (typeof value !== 'object' || value === null) return false;
  const { type, data, name, mimeType } = value as Readonly<Record<string, unknown>>;
  const isKind = type === 'attachImage' || type === 'attachFile';
  return isKind && typeof data === 'string' && typeof name === 'string' && typeof mimeType === 'string';
}
