// Edits of queued messages that are not saved yet, by session and message: they are there again when the
// message is edited again, also after the page was away.
import { readStored, removeStored, store } from '../host/storage';

/** Sessions whose edits are kept; those that were written in last stay. */
const STORE = { prefix: 'parley.edits.', most: 20 } as const;

export interface KeptEdit {
  readonly text: string;
  /** What stands in the queue. */
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

/** Returns the edit of a message that was not saved. */
export function keptEdit(session: string, id: string): KeptEdit | undefined {
  return editsOf(session)[id];
}

/** Keeps what is written for a message, or, without an edit, forgets it. */
export function keepEdit(session: string, id: string, edit?: KeptEdit): void {
  const { [id]: old, ...others } = editsOf(session);
  if (!old && !edit) return;
  const edits = edit ? { ...others, [id]: edit } : others;
  inMemory.set(session, edits);
  if (Object.keys(edits).length === 0) removeStored(STORE, session);
  else store(STORE, session, edits);
}

/** Takes out the edits of messages that have left the queue. @returns what was written in them */
export function takeOrphans(session: string, ids: ReadonlySet<string>): string[] {
  const orphans = Object.entries(editsOf(session)).filter(([id]) => !ids.has(id));
  for (const [id] of orphans) keepEdit(session, id);
  return orphans.filter(([, { text, from }]) => text !== from && text.trim() !== '').map(([, { text }]) => text);
}

function isEdit(value: unknown): value is KeptEdit {
  if (typeof value !== 'object' || value === null || !('text' in value) || !('from' in value)) return false;
  return typeof value.text === 'string' && typeof value.from === 'string';
}
