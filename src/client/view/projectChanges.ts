// Projects what turns changed on disk: the totals at their ends, and pages of the lists.
import { join, resolve } from 'node:path';
import * as l10n from '@vscode/l10n';
import type { FileChange } from '../../changes/model/fileChange';
import type { ReviewFile } from '../../changes/review/reviewFile';
import { redoableIn } from '../../changes/review/undoneFiles';
import type { ChangedFileView, ChangesCount, ChangesScope, ToWebview } from '../../panel/contract';
import type { TurnChanges } from '../../session/events/event';
import type { Entry, MessageEntry, SessionState } from '../../session/model/state';
import { pathOf } from '../changes/changedPaths';
import type { Conversation } from '../conversation/conversation';
import { labelOf } from './projectItem';

const MAX_FILES = 200;

/** Why more may have changed than was recorded. */
const INCOMPLETE: Readonly<Record<NonNullable<TurnChanges['incomplete']>, () => string>> = {
  late: () => l10n.t('The agent may have changed files before the first check. Those changes are not listed.'),
  interrupted: () => l10n.t('The end of the turn was not seen. Later changes to the folder may be listed too.'),
  'no-git': () => l10n.t('Git was not found. Only files named by the agent are listed.'),
  'too-large': () => l10n.t('The folder is too large to check without a Git repository.'),
  repositories: () =>
    l10n.t('The folder has too many repositories. Changes in some of them are neither listed nor restored.'),
  failed: () => l10n.t("The folder couldn't be checked completely."),
};

export function changesOfTurn({ changes }: Conversation, turnId: string): ChangesCount | undefined {
  const total = changes.total(turnId);
  if (!total) return undefined;
  const { files, added, removed, incomplete } = total;
  return {
    files,
    added,
    removed,
    version: changes.version(turnId),
    incomplete: incomplete ? INCOMPLETE[incomplete]() : undefined,
    redoable: redoable(changes, { turnId }),
  };
}

export function reviewOf({ changes }: Conversation): ChangesCount | undefined {
  const last = redoable(changes, 'review');
  const total = changes.waiting() ?? (last && { files: 0, added: 0, removed: 0 });
  if (!total) return undefined;
  const incomplete = changes.review?.isIncomplete
    ? l10n.t('Too many files changed to review all of them. Undo whole turns instead.')
    : undefined;
  return { ...total, version: changes.version(), incomplete, redoable: last };
}

function redoable({ review }: Conversation['changes'], scope: ChangesScope): number | undefined {
  return redoableIn(review?.redoable ?? [], scope).length || undefined;
}

export function waitingFilesOf({ changes }: Conversation): readonly string[] | undefined {
  const files = changes.review?.files ?? [];
  return files.length > 0 && files.length <= MAX_FILES ? files.map(pathOf) : undefined;
}

/** `to` is exclusive. @throws ParleyError `state-gone` */
export async function changesPage(
  conversation: Conversation,
  scope: ChangesScope,
  from: number,
  to: number,
): Promise<ToWebview> {
  const { changes, model, roots, cwd } = conversation;
  const isReview = scope === 'review';
  const review = changes.isReviewed ? await changes.loadReview() : undefined;
  const unnamed = isReview ? new Set<string>() : await changes.unnamedOf(scope.turnId);
  const isApart = (file: Changed): boolean =>
    'state' in file ? file.isUnnamed === true : unnamed.has(pathOf(file)) || wasThere(file);
  const listed = isReview ? (review?.files ?? []) : await changes.changesOf(scope.turnId);
  const all = [...listed.filter((file) => !isApart(file)), ...listed.filter(isApart)];
  const version = changes.version(isReview ? undefined : scope.turnId);
  const start = Math.min(from, all.length);
  const page = all.slice(start, Math.max(start, Math.min(to, start + MAX_FILES)));
  const calls = lastCalls(model.state, page.map(pathOf), cwd, isReview ? undefined : scope.turnId);
  const isOver = isReview || model.turn(scope.turnId)?.endedAt !== undefined;
  const waiting = new Map(review?.files.map((file) => [pathOf(file), file]));
  const redoable = new Set(review?.redoable.map(pathOf));
  const files = page.map((change) => {
    const view = fileView(change, roots, calls.get(pathOf(change)));
    const state = isOver && review ? (review.stateOf(change.root, change.path) ?? 'kept') : 'unreviewed';
    const alsoYours = waiting.get(view.id)?.alsoYours;
    return {
      ...view,
      state,
      ...(alsoYours && { alsoYours }),
      ...(isOver && redoable.has(view.id) && { canRedo: true as const }),
      ...(isApart(change) && { apart: wasThere(change) ? ('was-there' as const) : ('unnamed' as const) }),
    };
  });
  return { type: 'changes', scope, version, total: all.length, from: start, files };
}

/** Returns what can be done with a user message; nothing unless it began a turn. */
export function offersOf(
  { changes, model, agent }: Conversation,
  { turnId, index, promptId }: MessageEntry,
): { readonly canRestore?: true; readonly canEdit?: true } {
  const turn = turnId === undefined ? undefined : model.turn(turnId);
  if (!turn || !changes.isOurs || model.state.entries[index - 1]?.turnId === turnId) return {};
  const canEdit = promptId !== undefined && turn.endedAt !== undefined && agent.type !== 'communication';
  return { canRestore: (!turn.replayed && changes.canRestore(turn)) || undefined, canEdit: canEdit || undefined };
}

type Changed = FileChange | ReviewFile;

function fileView(
  change: Changed,
  roots: readonly string[],
  index: number | undefined,
): Omit<ChangedFileView, 'state'> {
  const { root, oldPath, added, removed, isBinary } = change;
  const path = pathOf(change);
  return {
    id: path,
    label: labelOf(path, roots),
    change: kindOf(change),
    added,
    removed,
    oldLabel: oldPath !== undefined ? labelOf(join(root, oldPath), roots) : undefined,
    isBinary,
    index,
  };
}

function wasThere(change: Changed): boolean {
  return !('state' in change) && change.wasThere === true && change.before === undefined;
}

function kindOf(change: Changed): ChangedFileView['change'] {
  const [before, after] = 'state' in change ? [change.base, change.left] : [change.before, change.after];
  if (change.oldPath !== undefined) return 'renamed';
  if (!before) return 'added';
  return after ? 'modified' : 'deleted';
}

/** @param turnId absent: any turn */
function lastCalls(
  { entries }: Readonly<SessionState>,
  paths: readonly string[],
  cwd: string,
  turnId: string | undefined,
): ReadonlyMap<string, number> {
  const wantedPaths = new Set(paths);
  const found = new Map<string, number>();
  for (let index = entries.length - 1; index >= 0 && found.size < wantedPaths.size; index--) {
    const entry = entries[index];
    if (entry?.kind !== 'tool' || (turnId !== undefined && entry.turnId !== turnId)) continue;
    for (const path of namedBy(entry)) {
      const whole = resolve(cwd, path);
      if (wantedPaths.has(whole) && !found.has(whole)) found.set(whole, index);
    }
  }
  return found;
}

function namedBy({ locations, content }: Extract<Entry, { kind: 'tool' }>): readonly string[] {
  const diffs = content.flatMap((part) => (part.type === 'diff' ? [part.path] : []));
  return [...diffs, ...locations.map(({ path }) => path)];
}
