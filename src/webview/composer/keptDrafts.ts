// Drafts kept by the page until the host has them: in local storage or, if there is none, in VS
// Code's state of the page.
import { type KeptDraft, type SentDraft, saveUiState, uiState } from '../host/host';
import { readAllStored, readStored, removeStored, store } from '../host/storage';

const STORE = { prefix: 'parley.draft.', most: 20 } as const;

/** Returns the latest kept draft of a session. */
export function keptDraft(key: string): KeptDraft | undefined {
  const { draft } = uiState();
  const inState = draft?.key === key ? readDraft(draft) : undefined;
  const stored = readDraft(readStored(STORE, key));
  return stored && (!inState || stored.revision >= inState.revision) ? stored : inState;
}

/** Returns the drafts of other sessions that were new, by key. */
export function draftsOfNew(shown: string): ReadonlyMap<string, KeptDraft> {
  const drafts = new Map<string, KeptDraft>();
  for (const [key, value] of readAllStored(STORE)) {
    const draft = key === shown ? undefined : readDraft(value);
    if (draft?.isNew) drafts.set(key, draft);
  }
  return drafts;
}

/** Keeps the draft of the displayed session. */
export function keepDraft(key: string, draft: KeptDraft): void {
  saveUiState({ draft: { key, ...draft } });
  store(STORE, key, draft);
}

/** The host has the draft. */
export function forgetDraft(key: string): void {
  if (uiState().draft?.key === key) saveUiState({ draft: undefined });
  removeStored(STORE, key);
}

function readDraft(value: unknown): KeptDraft | undefined {
  if (!isRecord(value)) return undefined;
  const { text, revision, sent, lost, isNew } = value;
  if (typeof text !== 'string' || typeof revision !== 'number') return undefined;
  return {
    text,
    revision,
    sent: isSent(sent) ? sent : undefined,
    lost: isTexts(lost) ? lost : undefined,
    isNew: isNew === true ? isNew : undefined,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isSent(value: unknown): value is SentDraft {
  if (!isRecord(value)) return false;
  const { clientId, text, revision, next = [] } = value;
  if (!isTexts(next)) return false;
  return typeof clientId === 'string' && typeof text === 'string' && typeof revision === 'number';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
