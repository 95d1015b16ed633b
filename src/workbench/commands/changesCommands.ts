// Commands for what agents changed: review, keep, undo, by session, turn, file and hunk.
import { l10n, type SourceControl, type SourceControlResourceState, Uri } from 'vscode';
import { ParleyError } from '../../base/errors';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import type { ChangesScope } from '../../panel/contract';
import { HunkCommands } from '../changes/hunks';
import { keepChanges, openChanges, targetOf, undoChanges } from '../changes/reviewActions';
import { stageTurn } from '../changes/stageTurn';
import { showStatus } from '../ui/messages';
import type { Command, CommandServices, Register } from './commands';
import { type ContinueOptions, continueFromMessage } from './continueFromMessage';
import { reviewWith } from './reviewWith';
import { showTurnOfLine } from './showTurnOfLine';

/** Which session and turn are meant; absent: the active session, all that waits. */
interface ChangesArgument {
  readonly session?: string;
  readonly turnId?: string;
}

export function changesCommands(services: CommandServices, register: Register): Command[] {
  const { conversations, reviews, restore, drafts, proposals, codeProposals } = services;
  const hunks = new HunkCommands(reviews);

  /** Menus pass what they belong to in place of an argument of ours. */
  const sessionOf = (argument: unknown): Conversation => {
    const key = at(argument, 'session');
    if (typeof key === 'string') return conversations.get(key);
    const active = conversations.peek();
    const waiting = reviews.files;
    if (active && waiting.some(({ conversation }) => conversation === active)) return active;
    return waiting[0]?.conversation ?? conversations.active();
  };
  const scopeOf = (argument: unknown): ChangesScope => {
    const turnId = at(argument, 'turnId');
    return typeof turnId === 'string' ? { turnId } : 'review';
  };

  /** The id of a group of the source control view is the key of its session. */
  const groupOr = (argument: unknown): unknown => {
    const id = at(argument, 'id');
    return typeof id === 'string' && conversations.find(id) ? { session: id } : argument;
  };

  return [
    register('useProposal', (uri?: Uri) => proposals.use(uri)),
    register('applyCode', (uri?: Uri) => codeProposals.use(uri)),
    register('reviewChanges', async (argument?: ChangesArgument) =>
      openChanges(sessionOf(groupOr(argument)), scopeOf(argument)),
    ),
    register('keepAll', async (argument?: unknown) => {
      const conversation = sessionOf(groupOr(argument));
      await keepChanges(conversation, await targetOf(conversation, 'review'));
    }),
    register('undoAll', async (argument?: unknown) => {
      const conversation = sessionOf(groupOr(argument));
      await undoChanges(conversation, await targetOf(conversation, 'review'));
    }),
    register('undoTurn', async (argument?: ChangesArgument) => {
      const conversation = sessionOf(argument);
      const turnId = argument?.turnId ?? lastChangingTurn(conversation);
      await undoChanges(conversation, await targetOf(conversation, { turnId }));
    }),
    register('reviewWith', async (argument?: ChangesArgument & { agent?: string }) => {
      const conversation = sessionOf(argument);
      const turnId = argument?.turnId ?? lastChangingTurn(conversation);
      return (await reviewWith(services, conversation, { ...argument, turnId }))?.key;
    }),
    // `ask: false` is for programs: nothing that the user edited is restored then.
    register('restoreCheckpoint', async (argument?: ChangesArgument & { ask?: boolean }) => {
      const conversation = sessionOf(argument);
      const turnId = argument?.turnId ?? lastChangingTurn(conversation);
      return restore.restoreCheckpoint(conversation, turnId, argument?.ask !== false);
    }),
    register('undoRestore', async (argument?: ChangesArgument & { ask?: boolean }) =>
      restore.undoRestore(sessionOf(argument), argument?.ask !== false),
    ),
    register('editAndResend', async (argument?: ChangesArgument & Omit<Partial<ContinueOptions>, 'turnId'>) => {
      const conversation = sessionOf(argument);
      const turnId = argument?.turnId ?? conversation.model.state.turns.at(-1)?.id ?? '';
      return (await continueFromMessage(services, conversation, { how: 'edit', ...argument, turnId }))?.key;
    }),
    register('stageTurn', async (argument?: ChangesArgument) => {
      const conversation = sessionOf(argument);
      const staged = await stageTurn(conversation, argument?.turnId ?? lastChangingTurn(conversation));
      showStatus(staged === 1 ? l10n.t('Staged 1 file.') : l10n.t('Staged {0} files.', staged));
    }),
    register('showTurnOfLine', () => showTurnOfLine(services)),
    // The source control view gives its repository.
    register('draftCommitMessage', (repository?: SourceControl) => drafts.draftInSourceControl(repository)),
    register('changes.next', () => hunks.go(1)),
    register('changes.previous', () => hunks.go(-1)),
    register('changes.keepHunk', (argument?: unknown) => hunks.keepHunk(hunkOf(argument))),
    register('changes.undoHunk', (argument?: unknown) => hunks.undoHunk(hunkOf(argument))),
    register('changes.keepFile', async (...rows: never[]) => {
      for (const path of pathsOf(rows)) await hunks.keepFile(path);
    }),
    register('changes.undoFile', async (...rows: never[]) => {
      for (const path of pathsOf(rows)) await hunks.undoFile(path);
    }),
    register('changes.openDiff', (argument?: unknown) => hunks.openDiff(pathsOf([argument])[0])),
  ];
}

function lastChangingTurn({ model }: Conversation): string {
  const turn = model.state.turns.findLast(({ changes }) => (changes?.folders.length ?? 0) > 0);
  if (!turn) throw new ParleyError('no-changes', l10n.t('There are no changes to undo.'));
  return turn.id;
}

/** A lens names a hunk; a menu or a key means the one at the cursor. */
function hunkOf(argument: unknown): { path?: string; hunk?: string } {
  const [path, hunk] = [at(argument, 'path'), at(argument, 'hunk')];
  return { ...(typeof path === 'string' && { path }), ...(typeof hunk === 'string' && { hunk }) };
}

/**
 * The files that are meant: what a program names, an address from a menu, or rows of the source
 * control view. One undefined: the active editor's.
 */
function pathsOf(given: readonly unknown[]): readonly (string | undefined)[] {
  const paths = given.flat().flatMap((one) => {
    if (one instanceof Uri) return [one.fsPath];
    const row = one as Partial<SourceControlResourceState> | undefined;
    if (row?.resourceUri instanceof Uri) return [row.resourceUri.fsPath];
    const path = at(one, 'path');
    return typeof path === 'string' ? [path] : [];
  });
  return paths.length > 0 ? [...new Set(paths)] : [undefined];
}
