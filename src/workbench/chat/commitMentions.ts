// Commits as something to mention: found by subject or hash, attached with their message and diff.
import { workspace } from 'vscode';
import { revealControls } from '../../base/revealControls';
import { oneLine } from '../../base/text';
import { type Commit, commitOf, commitText, type GitCommits } from '../../mentions/gitCommits';
import type { MentionView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import { agoLabel } from '../sessions/sessionLabels';
import { embeddedAttachment } from './attachments';
import { folded } from './earlierSessions';

const MOST_FOUND = 5;
const MOST_NEWEST = 8;
const LEAST_LETTERS = 3;
const HASH = /^[0-9a-f]{4,64}$/;
const ID = /^commit:([0-9a-f]{40,64})$/;
const WORD = /^comm(it?|its)?$/;
const SHORT_HASH = 7;
const MAX_WORDS = 60;

/** @param wanted in lower case */
export function asksForCommits(wanted: string): boolean {
  return WORD.test(wanted);
}

/**
 * @param wanted in lower case
 * @param folder of the repository; absolute
 */
export async function commitOffers(
  commits: GitCommits,
  wanted: string,
  folder: string | undefined,
  signal: AbortSignal,
): Promise<readonly MentionView[]> {
  if (!folder || !workspace.isTrusted) return [];
  const newest = await commits.newest(folder);
  if (asksForCommits(wanted)) return newest.slice(0, MOST_NEWEST).map(offerOf);
  if (wanted.length < LEAST_LETTERS) return [];
  const letters = folded(wanted);
  const isHash = HASH.test(wanted);
  const found = newest.filter(
    ({ hash, subject }) => (isHash && hash.startsWith(wanted)) || (letters && folded(subject).includes(letters)),
  );
  const isOlder = found.length === 0 && isHash && wanted.length >= SHORT_HASH;
  return (isOlder ? await commitOf(folder, wanted, signal) : found.slice(0, MOST_FOUND)).map(offerOf);
}

/**
 * Returns undefined if the id is no commit's.
 * @throws ParleyError if git fails
 */
export async function commitAttachment(id: string, folder: string | undefined): Promise<QueuedAttachment | undefined> {
  const hash = ID.exec(id)?.[1];
  const found = hash && folder && workspace.isTrusted ? await commitText(folder, hash) : undefined;
  if (!found) return undefined;
  return embeddedAttachment('commit', `commit/${hash}`, labelOf(found.commit), found.text);
}

function offerOf(commit: Commit): MentionView {
  const description = `${inLine(commit.author)} · ${agoLabel(commit.at, Date.now())}`;
  return { id: `commit:${commit.hash}`, kind: 'commit', label: labelOf(commit), description };
}

function labelOf({ hash, subject }: Commit): string {
  return `${hash.slice(0, SHORT_HASH)} ${inLine(subject)}`.trim();
}

/** Anybody can have written it. */
function inLine(text: string): string {
  return oneLine(revealControls(text), MAX_WORDS);
}
