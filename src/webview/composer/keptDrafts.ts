// Drafts kept by the page until the host has them.
import type { KeptDraft, SentDraft } from '../host/host';
import { isRecord, SessionStore, type Stored } from '../host/storage';

const drafts = new SessionStore({ name: 'draft', most: 20, read: readDraft });

export function keptDraft(key: string): KeptDraft | undefined {
  const [first, second] = drafts.copies(key);
  return first && second && first.revision > second.revision ? first : (second ?? first);
}

/** Returns the drafts of other sessions that were new, by key. */
export function draftsOfNew(shown: string): ReadonlyMap<string, KeptDraft> {
  const all = drafts.sessions().map((key) => [key, keptDraft(key)] as const);
  return new Map(all.filter((one): one is [string, KeptDraft] => one[0] !== shown && one[1]?.isNew === true));
}

export function keepDraft(key: string, draft?: KeptDraft): void {
  drafts.set(key, draft);
}

function readDraft({ text, revision, sent, lost, isNew }: Stored): KeptDraft | undefined {
  if (typeof text !== 'string' || typeof revision !== 'number') return undefined;
  return {
    text,
    revision,
    sent: isSent(sent) ? sent : undefined,
    lost: isTexts(lost) ? lost : undefined,
    isNew: isNew === true || undefined,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isSent(value: unknown): value is SentDraft {
  if (!isRecord(value)) return false;
  const { clientId, text, revision, next = [] } = value;
  return isTexts(next) && typeof clientId === 'string' && typeof text === 'string' && typeof revision === 'number';
}
