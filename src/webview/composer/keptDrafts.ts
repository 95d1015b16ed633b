// What the page itself keeps of drafts until the host has them. VS Code's state of the page is written
// late and does not outlive a panel whose extension host broke; the storage of the browser does both.
import type { DraftView } from '../../panel/contract';
import { saveUiState, uiState } from '../host';

/** A message that was given to the host, which has not said yet that it has it. */
export interface SentDraft {
  readonly clientId: string;
  readonly text: string;
  /** Of the draft that was sent. */
  readonly revision: number;
}

export interface KeptDraft extends DraftView {
  readonly sent?: SentDraft;
}

/** Sessions whose drafts are kept here; those that were written in last stay. */
const MOST_KEPT = 20;
const PREFIX = 'parley.draft.';

/** Returns the newest draft of a session that was kept here. */
export function keptDraft(key: string): KeptDraft | undefined {
  const { draft } = uiState();
  const inState = draft?.key === key ? readDraft(draft) : undefined;
  const stored = readStored(key);
  return stored && (!inState || stored.revision >= inState.revision) ? stored : inState;
}

/** Keeps the draft of the session that is shown. */
export function keepDraft(key: string, draft: KeptDraft): void {
  saveUiState({ draft: { key, ...draft } });
  withStorage((storage) => {
    if (storage.getItem(PREFIX + key) === null) forgetOldest(storage);
    storage.setItem(PREFIX + key, JSON.stringify({ ...draft, at: Date.now() }));
  });
}

/** The host has the draft. */
export function forgetDraft(key: string): void {
  if (uiState().draft?.key === key) saveUiState({ draft: undefined });
  withStorage((storage) => storage.removeItem(PREFIX + key));
}

function readStored(key: string): KeptDraft | undefined {
  let text: string | null = null;
  withStorage((storage) => {
    text = storage.getItem(PREFIX + key);
  });
  return text === null ? undefined : readDraft(parse(text));
}

function forgetOldest(storage: Storage): void {
  const names = Object.keys(storage).filter((name) => name.startsWith(PREFIX));
  if (names.length < MOST_KEPT) return;
  const timeOf = (name: string): number => {
    const kept = parse(storage.getItem(name) ?? '');
    return isRecord(kept) && typeof kept.at === 'number' ? kept.at : 0;
  };
  const [oldest] = names.map((name) => ({ name, at: timeOf(name) })).sort((one, other) => one.at - other.at);
  if (oldest) storage.removeItem(oldest.name);
}

/** Where the browser gives a page no storage, or has no room left, VS Code's state is all there is. */
function withStorage(use: (storage: Storage) => void): void {
  try {
    use(localStorage);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
}

function readDraft(value: unknown): KeptDraft | undefined {
  if (!isRecord(value)) return undefined;
  const { text, revision, sent } = value;
  if (typeof text !== 'string' || typeof revision !== 'number') return undefined;
  return { text, revision, ...(isSent(sent) && { sent }) };
}

function isSent(value: unknown): value is SentDraft {
  if (!isRecord(value)) return false;
  const { clientId, text, revision } = value;
  return typeof clientId === 'string' && typeof text === 'string' && typeof revision === 'number';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // of another version, or cut off
  }
}
