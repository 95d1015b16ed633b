// Attachments that the host does not have yet. The next page posts them again if the host exited.
import type { SessionMessage } from '../../panel/contract';
import { post } from '../host/host';
import { isRecord, SessionStore } from '../host/storage';

/** Maximum characters of base64 and thumbnails; local storage holds about five million. */
const MAX_CHARS = 2_000_000;

export type AttachMessage = Extract<SessionMessage, { type: 'attachImage' | 'attachFile' }>;

interface Waiting {
  readonly id: string;
  readonly at: number;
  readonly message: AttachMessage;
}

const attachments = new SessionStore({
  name: 'attach',
  maxSessions: 5,
  isLarge: true,
  read: ({ all }) => (Array.isArray(all) ? { all: all.filter(isWaiting) } : undefined),
});

const posted = new Set<string>();

let displayed: { readonly key: string; readonly labels: readonly string[] } = { key: '', labels: [] };

/**
 * Posts an attachment, and keeps it until the host has it.
 * @param key null before a session is shown
 */
export function postAttachment(message: AttachMessage, key: string | null): void {
  post(message, key);
  if (key === null) return;
  const id = crypto.randomUUID();
  posted.add(id);
  const all = [...waiting(key), { id, at: Date.now(), message }];
  if (JSON.stringify(all).length <= MAX_CHARS) attachments.set(key, { all });
}

/** Call it when the host shows a session or the labels of its attachments change. */
export function attachmentsShown(key: string, labels: readonly string[]): void {
  const before = displayed.key === key ? displayed.labels : [];
  displayed = { key, labels };
  if (key === '') return;
  const all = waiting(key);
  const count = (some: readonly string[], name: string): number => some.filter((label) => label === name).length;
  const unposted = all.filter(
    ({ id, message: { name } }) => !posted.has(id) || count(labels, name) <= count(before, name),
  );
  if (unposted.length < all.length) attachments.set(key, unposted.length > 0 ? { all: unposted } : undefined);
  for (const { id, at, message } of unposted) {
    // Another open page has posted it.
    if (posted.has(id) || at > performance.timeOrigin) continue;
    posted.add(id);
    post(message, key);
  }
}

function waiting(key: string): readonly Waiting[] {
  return attachments.copies(key).at(-1)?.all ?? [];
}

function isWaiting(value: unknown): value is Waiting {
  if (!isRecord(value) || !isRecord(value.message)) return false;
  const { type, data, name, mimeType } = value.message;
  const isKind = type === 'attachImage' || type === 'attachFile';
  const isPosted = typeof value.id === 'string' && typeof value.at === 'number';
  return isPosted && isKind && [data, name, mimeType].every((field) => typeof field === 'string');
}
