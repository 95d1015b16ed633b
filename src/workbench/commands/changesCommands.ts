// Commands for what agents changed: review, keep, undo, by session, turn, file and hunk.
import { l10n, type SourceControl, Uri } from 'vscode';
import { ParleyError } from '../../base/errors';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import type { ChangesScope } from '../../panel/contract';
import { reviewsInFront } from '../changes/comparisons';
import { type HunkArgument, HunkCommands } from '../changes/hunks';
import { keepChanges, openChanges, targetOf, undoChanges } from '../changes/reviewActions';
import { stageTurn } from '../changes/stageTurn';
import { titleOf } from '../sessions/sessionLabels';
import { showStatus } from '../ui/messages';
import type { Command, CommandServices, Register } from './commandServices';
import { chooseSession, nothingChanged, sessionOf, waitingFileOf } from './commandSession';
import { type ContinueOptions, continueFromMessage } from './continueFromMessage';
import { reviewWith } from './reviewWith';
import { showTurnOfLine } from './showTurnOfLine';

/** Which session and turn are meant; absent: the session that is shown, all that waits. */
interface ChangesArgument {
  readonly session?: string;
  readonly turnId?: string;
}

export function changesCommands(services: CommandServices, register: Register): Command[] {
  const { conversations, reviews, restore, drafts, proposals, codeProposals } = services;
  const hunks = new HunkCommands(reviews, (found, isNamed) => waitingFileOf(services, found, isNamed));

  /**
   * The session whose review is meant: of the comparison in front or, for the title of the source
   * control view, one of those that the view lists; else as {@link sessionOf}.
   */
  const reviewedBy = (argument: unknown): Promise<Conversation> => {
    const listed = isSourceControl(argument)
      ? [...new Set(reviews.files.map(({ conversation }) => conversation))]
      : isMenuOfEditor(argument)
        ? reviewsInFront().flatMap((key) => conversations.find(key) ?? [])
        : [];
    const [only] = listed;
    if (!only) return sessionOf(services, argument);
    return listed.length === 1 ? Promise.resolve(only) : chooseSession(listed);
  };
  const waitingIn = async (argument: unknown): Promise<Conversation> => {
    const conversation = await reviewedBy(argument);
    const { files } = await conversation.changes.loadReview();
    // A program that names the session has what it wants.
    if (files.length === 0 && at(argument, 'session') === undefined)
      throw new ParleyError('no-changes', l10n.t('No changes are pending review in “{0}”.', titleOf(conversation)));
    return conversation;
  };
  const scopeOf = (argument: unknown): ChangesScope => {
    const turnId = at(argument, 'turnId');
    return typeof turnId === 'string' ? { turnId } : 'review';
  };

  return [
    register('useProposal', (uri?: Uri) => proposals.use(uri)),
    register('applyCode', (uri?: Uri) => codeProposals.use(uri)),
    register('reviewChanges', async (argument?: ChangesArgument) => {
      const scope = scopeOf(argument);
      await openChanges(await (scope === 'review' ? waitingIn(argument) : sessionOf(services, argument)), scope);
    }),
    register('keepAll', async (argument?: unknown) => {
      const conversation = await waitingIn(argument);
      await keepChanges(conversation, await targetOf(conversation, 'review'));
    }),
    register('undoAll', async (argument?: unknown) => {
      const conversation = await waitingIn(argument);
      await undoChanges(conversation, await targetOf(conversation, 'review'));
    }),
    register('undoTurn', async (argument?: ChangesArgument) => {
      const conversation = await sessionOf(services, argument);
      const turnId = argument?.turnId ?? lastChangingTurn(conversation);
      await undoChanges(conversation, await targetOf(conversation, { turnId }));
    }),
    register('reviewWith', async (argument?: ChangesArgument & { agent?: string }) => {
      const conversation = await sessionOf(services, argument);
      const turnId = argument?.turnId ?? lastChangingTurn(conversation);
      return (await reviewWith(services, conversation, { ...argument, turnId }))?.key;
    }),
    // `ask: false` is for programs: nothing that the user edited is restored then.
    register('restoreCheckpoint', async (argument?: ChangesArgument & { ask?: boolean }) => {
      const conversation = await sessionOf(services, argument);
      const turnId = argument?.turnId ?? lastChangingTurn(conversation);
      return restore.restoreCheckpoint(conversation, turnId, argument?.ask !== false);
    }),
    register('undoRestore', async (argument?: ChangesArgument & { ask?: boolean }) =>
      restore.undoRestore(await sessionOf(services, argument), argument?.ask !== false),
    ),
    register('editAndResend', async (argument?: ChangesArgument & Omit<Partial<ContinueOptions>, 'turnId'>) => {
      const conversation = await sessionOf(services, argument);
      const turnId = argument?.turnId ?? conversation.model.state.turns.at(-1)?.id;
      if (turnId === undefined)
        throw new ParleyError('no-such-message', l10n.t('There is no message in “{0}”.', titleOf(conversation)));
      return (await continueFromMessage(services, conversation, { how: 'edit', ...argument, turnId }))?.key;
    }),
    register('stageTurn', async (argument?: ChangesArgument) => {
      const conversation = await sessionOf(services, argument);
      const staged = await stageTurn(conversation, argument?.turnId ?? lastChangingTurn(conversation));
      showStatus(staged === 1 ? l10n.t('Staged 1 file.') : l10n.t('Staged {0} files.', staged));
    }),
    register('showTurnOfLine', () => showTurnOfLine(services)),
    // The source control view gives its repository.
    register('draftCommitMessage', (repository?: SourceControl) => drafts.draftInSourceControl(repository)),
    register('changes.next', () => hunks.go(1)),
    register('changes.previous', () => hunks.go(-1)),
    register('changes.keepHunk', (argument?: unknown) => hunks.keepHunk(filesOf([argument])[0])),
    register('changes.undoHunk', (argument?: unknown) => hunks.undoHunk(filesOf([argument])[0])),
    register('changes.keepFile', async (...rows: never[]) => {
      for (const file of filesOf(rows)) await hunks.keepFile(file);
    }),
    register('changes.undoFile', async (...rows: never[]) => {
      for (const file of filesOf(rows)) await hunks.undoFile(file);
    }),
    register('changes.openDiff', (argument?: unknown) => hunks.openDiff(filesOf([argument])[0])),
  ];
}

function lastChangingTurn(conversation: Conversation): string {
  const turn = conversation.model.state.turns.findLast(({ changes }) => (changes?.folders.length ?? 0) > 0);
  if (!turn) throw nothingChanged(conversation);
  return turn.id;
}

/** Returns whether a command comes from the title of the source control view. */
function isSourceControl(argument: unknown): boolean {
  return at(argument, 'id') === 'parley' && typeof at(argument, 'createResourceGroup') === 'function';
}

/** Returns whether a command comes from the title of an editor, or from the palette or a key. */
function isMenuOfEditor(argument: unknown): boolean {
  return argument === undefined || argument instanceof Uri || at(argument, 'groupId') !== undefined;
}

/**
 * Returns the files that are meant: what a program or a lens names, an address from a menu, or rows
 * of the source control view. One without a path: the active editor's.
 */
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
