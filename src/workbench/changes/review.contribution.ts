// Reviews changes by agents: keep, undo and restore, by session, turn, file and hunk.
import { l10n, type SourceControl, Uri } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import type { ChangesScope } from '../../panel/contract';
import { chooseSession, nothingChanged, sessionOf, waitingFileOf } from '../commands/commandSession';
import { type ContinueOptions, continueFromMessage, reviewWith } from '../commands/continueWith';
import { showTurnOfLine } from '../commands/showTurnOfLine';
import type { Contribution } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { showStatus } from '../ui/messages';
import { CommitDrafts } from './commitDrafts';
import { activeReviews } from './comparisons';
import { readVersion, VersionDocuments } from './documents/versionDocuments';
import { EditorWorkingFiles } from './documents/workingFiles';
import { stageTurn } from './gitExtension';
import { type HunkArgument, HunkCommands, HunkLenses } from './hunks';
import { RestoreActions } from './restoreActions';
import { keepChanges, openChanges, redoChanges, targetOf, undoChanges } from './reviewActions';
import { ReviewIndex } from './reviewIndex';
import { SessionRestore } from './sessionRestore';
import { markReview, ReviewSourceControl, UndoneWatch } from './sourceControl';

/** Default: the session shown, everything to review. */
interface ChangesArgument {
  readonly session?: string;
  readonly turnId?: string;
  /** `false`: for programs, restores nothing that the user edited. */
  readonly ask?: boolean;
}

export const review: Contribution = {
  parts(workbench) {
    const { log } = workbench;
    const conversations = workbench.get(Conversations);
    workbench.own(workbench.add(new VersionDocuments((ref) => readVersion(conversations, ref))).register());
    const waiting = workbench.add(new ReviewIndex(conversations));
    workbench.own(new HunkLenses(waiting));
    workbench.own(new UndoneWatch(conversations));
    workbench.own(new ReviewSourceControl(waiting));
    workbench.own(markReview(waiting));
    const restore = workbench.add(
      new RestoreActions(
        new SessionRestore({
          files: workbench.get(EditorWorkingFiles),
          store: workbench.store('restores'),
          logs: workbench.store('restores-running'),
        }),
      ),
    );
    workbench.own(
      conversations.onDidAdd((conversation) => {
        const offering = conversation.changes.isReviewed ? restore.offerPending(conversation) : undefined;
        offering?.catch((error: unknown) => log.error(`restore: ${messageOf(error)}`));
      }),
    );
  },

  commands(workbench) {
    const conversations = workbench.get(Conversations);
    const reviews = workbench.get(ReviewIndex);
    const restore = workbench.get(RestoreActions);
    const drafts = workbench.get(CommitDrafts);
    const hunks = new HunkCommands(reviews, (found, isNamed) => waitingFileOf(workbench, found, isNamed));

    /**
     * Returns the session of the active comparison or Source Control view, or as {@link sessionOf}.
     */
    const reviewedBy = (argument: unknown): Promise<Conversation> => {
      const listed = isSourceControl(argument)
        ? [...new Set(reviews.files.map(({ conversation }) => conversation))]
        : isMenuOfEditor(argument)
          ? activeReviews().flatMap((key) => conversations.find(key) ?? [])
          : [];
      const [only] = listed;
      if (!only) return sessionOf(workbench, argument);
      return listed.length === 1 ? Promise.resolve(only) : chooseSession(listed);
    };
    const waitingIn = async (argument: unknown): Promise<Conversation> => {
      const conversation = await reviewedBy(argument);
      const { files } = await conversation.changes.loadReview();
      // A program that names the session needs no message.
      if (files.length === 0 && at(argument, 'session') === undefined)
        throw new ParleyError('no-changes', l10n.t('No changes are pending review in “{0}”.', titleOf(conversation)));
      return conversation;
    };
    const turnOf = async (argument?: ChangesArgument): Promise<readonly [Conversation, turnId: string]> => {
      const conversation = await sessionOf(workbench, argument);
      return [conversation, argument?.turnId ?? lastChangingTurn(conversation)];
    };

    workbench.register('reviewChanges', async (argument?: ChangesArgument) => {
      const turnId = at(argument, 'turnId');
      const scope: ChangesScope = typeof turnId === 'string' ? { turnId } : 'review';
      await openChanges(await (scope === 'review' ? waitingIn(argument) : sessionOf(workbench, argument)), scope);
    });
    workbench.register('keepAll', async (argument?: unknown) => {
      const conversation = await waitingIn(argument);
      await keepChanges(conversation, await targetOf(conversation, 'review'));
    });
    workbench.register('undoAll', async (argument?: unknown) => {
      const conversation = await waitingIn(argument);
      await undoChanges(conversation, await targetOf(conversation, 'review'));
    });
    workbench.register('undoTurn', async (argument?: ChangesArgument) => {
      const [conversation, turnId] = await turnOf(argument);
      await undoChanges(conversation, await targetOf(conversation, { turnId }));
    });
    workbench.register('reviewWith', async (argument?: ChangesArgument & { agent?: string }) => {
      const [conversation, turnId] = await turnOf(argument);
      return (await reviewWith(workbench, conversation, turnId, argument?.agent))?.key;
    });
    workbench.register('restoreCheckpoint', async (argument?: ChangesArgument) =>
      restore.restoreCheckpoint(...(await turnOf(argument)), argument?.ask !== false),
    );
    workbench.register('undoRestore', async (argument?: ChangesArgument) =>
      restore.undoRestore(await sessionOf(workbench, argument), argument?.ask !== false),
    );
    workbench.register(
      'editAndResend',
      async (argument?: ChangesArgument & Omit<Partial<ContinueOptions>, 'turnId'>) => {
        const conversation = await sessionOf(workbench, argument);
        const turnId = argument?.turnId ?? conversation.model.state.turns.at(-1)?.id;
        if (turnId === undefined)
          throw new ParleyError('no-such-message', l10n.t('There is no message in “{0}”.', titleOf(conversation)));
        return (await continueFromMessage(workbench, conversation, { how: 'edit', ...argument, turnId }))?.key;
      },
    );
    workbench.register('stageTurn', async (argument?: ChangesArgument) => {
      const staged = await stageTurn(...(await turnOf(argument)));
      showStatus(staged === 1 ? l10n.t('Staged 1 file.') : l10n.t('Staged {0} files.', staged));
    });
    workbench.register('showTurnOfLine', () => showTurnOfLine(workbench));
    // The Source Control view passes its repository.
    workbench.register('draftCommitMessage', (repository?: SourceControl) => drafts.draftInSourceControl(repository));
    workbench.register('changes.go', (argument?: { to?: string }) => hunks.go(argument?.to === 'previous' ? -1 : 1));
    workbench.register('changes.keepHunk', (argument?: unknown) => hunks.keepHunk(filesOf([argument])[0]));
    workbench.register('changes.undoHunk', (argument?: unknown) => hunks.undoHunk(filesOf([argument])[0]));
    workbench.register('changes.redo', async (argument?: HunkArgument & ChangesArgument) => {
      const conversation = await sessionOf(workbench, argument);
      const turnId = at(argument, 'turnId');
      await redoChanges(conversation, typeof turnId === 'string' ? { turnId } : 'review', argument?.path);
    });
    workbench.register('changes.keepFile', async (...rows: never[]) => {
      for (const file of filesOf(rows)) await hunks.keepFile(file);
    });
    workbench.register('changes.undoFile', async (...rows: never[]) => {
      for (const file of filesOf(rows)) await hunks.undoFile(file);
    });
    workbench.register('changes.openDiff', (argument?: unknown) => hunks.openDiff(filesOf([argument])[0]));
  },
};

function lastChangingTurn(conversation: Conversation): string {
  const turn = conversation.model.state.turns.findLast(({ changes }) => (changes?.folders.length ?? 0) > 0);
  if (!turn) throw nothingChanged(conversation);
  return turn.id;
}

function isSourceControl(argument: unknown): boolean {
  return at(argument, 'id') === 'parley' && typeof at(argument, 'createResourceGroup') === 'function';
}

function isMenuOfEditor(argument: unknown): boolean {
  return argument === undefined || argument instanceof Uri || at(argument, 'groupId') !== undefined;
}

/** Returns the files named by a program, lens or menu; without a path: the active editor's. */
function filesOf(given: readonly unknown[]): readonly HunkArgument[] {
  const files = given.flat().flatMap((one): HunkArgument[] => {
    const uri = one instanceof Uri ? one : at(one, 'resourceUri');
    const path = uri instanceof Uri ? uri.fsPath : at(one, 'path');
    if (typeof path !== 'string') return [];
    const [session, hunk] = [at(one, 'session'), at(one, 'hunk')];
    return [
      {
        path,
        session: typeof session === 'string' ? session : undefined,
        hunk: typeof hunk === 'string' ? hunk : undefined,
      },
    ];
  });
  const isFirst = ({ path, session }: HunkArgument, index: number): boolean =>
    files.findIndex((other) => other.path === path && other.session === session) === index;
  return files.length > 0 ? files.filter(isFirst) : [{}];
}
