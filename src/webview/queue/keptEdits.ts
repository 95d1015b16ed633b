// Unsaved edits of queued messages by session and message. They return when the message is edited
// again, even after a reload.
import { readStored, removeStored, store } from '../host/storage';

/** Maximum number of sessions; the least recently edited one is removed. */
const STORE = { prefix: 'parley.edits.', most: 20 } as const;

export interface KeptEdit {
  readonly text: string;
  /** The text in the queue. */
  readonly from: string;
  /** It was saved, and the queue does not have it yet. */
  readonly saved?: true;
}

type Edits = Readonly<Record<string, KeptEdit>>;

const inMemory = new Map<string, Edits>();

function editsOf(session: string): Edits {
  const known = inMemory.get(session);
  if (known) return known;
  const stored = readStored(STORE, session);
  const edits = Object.fromEntries(
    Object.entries(stored ?? {}).filter((entry): entry is [string, KeptEdit] => isEdit(entry[1])),
  );
  inMemory.set(session, edits);
  return edits;
}

/** Returns the unsaved edit of a message. */
export function keptEdit(session: string, id: string): KeptEdit | undefined {
  const edit = editsOf(session)[id];
  return edit?.saved ? undefined : edit;
}

/** Keeps the edit of a message or, without one, removes it. */
export function keepEdit(session: string, id: string, edit?: KeptEdit): void {
  const { [id]: old, ...others } = editsOf(session);
  if (!old && !edit) return;
  const edits = edit ? { ...others, [id]: edit } : others;
  inMemory.set(session, edits);
  if (Object.keys(edits).length === 0) removeStored(STORE, session);
  else store(STORE, session, edits);
}

/**
 * Returns the saved edits that the queue does not have although this page has not posted them: the
 * host was gone when they were saved. Forgets those that it has.
 * @param items the texts of the queue by id
 */
export function lostEdits(session: string, items: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const lost = new Map<string, string>();
  for (const [id, { text, from, saved }] of Object.entries(editsOf(session))) {
    const now = items.get(id);
    if (!saved || now === undefined) continue;
    if (now !== from) keepEdit(session, id);
    else if (!posted.has(id)) lost.set(id, text);
    posted.add(id);
  }
  return lost;
}

/** The messages whose edits this page has posted. */
const posted = new Set<string>();

/** Keeps an edit that is posted to the host, until the queue has it. */
export function keepSaved(session: string, id: string, text: string, from: string): void {
  posted.add(id);
  keepEdit(session, id, text === from ? undefined : { text, from, saved: true });
}

/**
 * Removes the edits of messages that left the queue.
 * @returns their texts, but of those that were saved: the message was sent with them
 */
export function takeOrphans(session: string, ids: ReadonlySet<string>): string[] {
  const orphans = Object.entries(editsOf(session)).filter(([id]) => !ids.has(id));
  for (const [id] of orphans) keepEdit(session, id);
  return orphans
    .filter(([, { text, from, saved }]) => !saved && text !== from && text.trim() !== '')
    .map(([, { text }]) => text);
}

function isEdit(value: unknown): value is KeptEdit {
  if (typeof value !== 'object' || value === null || !('text' in value) || !('from' in value)) return false;
  if ('saved' in value && value.saved !== true) return false;
  return typeof value.text === 'string' && typeof value.from === 'string';
}
