// Unsaved edits of queued messages by session and message. They return when the message is edited
// again, even after a reload.
import { readStored, removeStored, store } from '../host/storage';

/** Maximum number of sessions; the least recently edited one is removed. */
const STORE = { prefix: 'parley.edits.', most: 20 } as const;

export interface KeptEdit {
  readonly text: string;
  /** The text in the queue. */
  readonly from: string;
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
  return editsOf(session)[id];
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
 * Removes the edits of messages that left the queue.
 * @returns their texts
 */
export function takeOrphans(session: string, ids: ReadonlySet<string>): string[] {
  const orphans = Object.entries(editsOf(session)).filter(([id]) => !ids.has(id));
  for (const [id] of orphans) keepEdit(session, id);
  return orphans.filter(([, { text, from }]) => text !== from && text.trim() !== '').map(([, { text }]) => text);
}

function isEdit(value: unknown): value is KeptEdit {
  if (typeof value !== 'object' || value === null || !('text' in value) || !('from' in value)) return false;
  return typeof value.text === 'string' && typeof value.from === 'string';
}
