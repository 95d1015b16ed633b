// Unsaved edits of queued messages by session and message.
import { isRecord, SessionStore } from '../host/storage';

export interface StoredEdit {
  readonly text: string;
  readonly from: string;
  readonly saved?: true;
}

type Edits = Readonly<Record<string, StoredEdit>>;

const store = new SessionStore<Edits>({
  name: 'edits',
  maxSessions: 20,
  read: (value) =>
    Object.fromEntries(Object.entries(value).filter((entry): entry is [string, StoredEdit] => isEdit(entry[1]))),
});

const posted = new Set<string>();

function editsOf(session: string): Edits {
  return store.copies(session).at(-1) ?? {};
}

export function storedEdit(session: string, id: string): StoredEdit | undefined {
  const edit = editsOf(session)[id];
  return edit?.saved ? undefined : edit;
}

/** Stores or, without `edit`, removes the edit of a message. */
export function keepEdit(session: string, id: string, edit?: StoredEdit): void {
  const { [id]: old, ...others } = editsOf(session);
  if (!old && !edit) return;
  const edits = edit ? { ...others, [id]: edit } : others;
  store.set(session, Object.keys(edits).length > 0 ? edits : undefined);
}

/**
 * Returns the stored edits that the host lost when it exited, and removes the others.
 * @param items texts of the queue by message id
 */
export function lostEdits(session: string, items: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const lost = new Map<string, string>();
  for (const [id, { text, from, saved }] of Object.entries(editsOf(session))) {
    const current = items.get(id);
    if (!saved || current === undefined) continue;
    if (current !== from) keepEdit(session, id);
    else if (!posted.has(id)) lost.set(id, text);
    posted.add(id);
  }
  return lost;
}

export function keepSaved(session: string, id: string, text: string, from: string): void {
  posted.add(id);
  keepEdit(session, id, text === from ? undefined : { text, from, saved: true });
}

/**
 * Removes the edits of messages that left the queue; returns texts that were not sent with them.
 */
export function takeOrphans(session: string, ids: ReadonlySet<string>): string[] {
  const orphans = Object.entries(editsOf(session)).filter(([id]) => !ids.has(id));
  for (const [id] of orphans) keepEdit(session, id);
  return orphans
    .filter(([, { text, from, saved }]) => !saved && text !== from && text.trim() !== '')
    .map(([, { text }]) => text);
}

function isEdit(value: unknown): value is StoredEdit {
  if (!isRecord(value) || (value.saved !== undefined && value.saved !== true)) return false;
  return typeof value.text === 'string' && typeof value.from === 'string';
}
