// Restores the files of a session to before a turn, and reverts that.

import { access, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { Configured } from '../../base/disposable';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { succeeds } from '../../base/within';
import type { Snapshot, WorkingFiles } from '../../changes/model/fileChange';
import { AgentEdits } from '../../changes/restore/agentEdits';
import { Restore, type RestoreResult } from '../../changes/restore/restore';
import type { RestorePlan } from '../../changes/restore/restorePlan';
import { isSameSnapshot, isSettled, statesOf } from '../../client/changes/recordedTurn';
import type { Conversation } from '../../client/conversation/conversation';
import { isProtected } from '../../client/requests/protectedPaths';
import { realTarget } from '../../client/requests/roots';
import type { FileStore } from '../../client/sharing/fileStore';

interface SessionRestoreOptions {
  readonly files: WorkingFiles;
  readonly store: FileStore;
  readonly logs: Pick<FileStore, 'pathOf'>;
}

const snapshot = z.object({
  folders: z.array(z.object({ root: z.string(), tree: z.string().check(z.regex(/^[0-9a-f]{40,64}$/)) })),
});
const undo = z.object({ target: snapshot, now: snapshot, review: z.unknown() });

interface UnfinishedRestore {
  readonly files: number;
  readonly isUndo: boolean;
  finish(): Promise<RestoreResult>;
  takeBack(): Promise<RestoreResult>;
}

export class SessionRestore extends Configured<SessionRestoreOptions> {
  async plan(conversation: Conversation, turnId: string, signal: AbortSignal): Promise<RestorePlan> {
    const { changes, model } = conversation;
    await changes.settled();
    const wanted = model.turn(turnId);
    const later = wanted ? model.state.turns.filter(({ number }) => number >= wanted.number) : [];
    const changing = later.filter((turn) => turn.changes && turn.changes.folders.length > 0);
    const first = changing[0]?.changes;
    if (!first) {
      throw new ParleyError('no-checkpoint', localizable('No files were changed since this message.'));
    }
    const agentFiles = new AgentEdits();
    for (const turn of changing)
      if (turn.changes && isSettled(turn.changes))
        agentFiles.add(
          await changes.changesOf(turn.id),
          new Set(turn.changes.alsoYours),
          await changes.unnamedOf(turn.id),
        );
    agentFiles.addReview((await changes.loadReview()).files);
    return this.#planTo(conversation, statesOf(first).before, agentFiles, signal);
  }

  /** @param include absolute paths of files to restore although the user edited them */
  async run(conversation: Conversation, plan: RestorePlan, include: ReadonlySet<string>): Promise<RestoreResult> {
    const { changes, key } = conversation;
    const review = await changes.loadReview();
    const reviewState = review.kept;
    const restore = await this.#restoreOf(conversation);
    const result = await changes.work.run('restore', async (progress, signal) => {
      // The data of an interrupted restore is needed until it has ended.
      if (!(await restore.pending()))
        await this.options.store.write(
          key,
          JSON.stringify({ target: plan.target, now: plan.now, review: reviewState }),
        );
      return restore.run(plan, include, signal, progress);
    });
    await this.#onEnd(conversation, result, false);
    return result;
  }

  async planUndo(conversation: Conversation, signal: AbortSignal): Promise<RestorePlan> {
    const { now, target } = await this.#readLast(conversation.key);
    const states = await conversation.changes.states();
    const agentFiles = new AgentEdits().add(await states.changes(now, target));
    return this.#planTo(conversation, now, agentFiles, signal);
  }

  async undo(conversation: Conversation, plan: RestorePlan, include: ReadonlySet<string>): Promise<RestoreResult> {
    const restore = await this.#restoreOf(conversation);
    const result = await conversation.changes.work.run('restore', (progress, signal) =>
      restore.run(plan, include, signal, progress),
    );
    await this.#onEnd(conversation, result, true);
    return result;
  }

  async pending(conversation: Conversation): Promise<UnfinishedRestore | undefined> {
    // Opening the states is expensive.
    const hasLog = await succeeds(access(this.#logOf(conversation)));
    const pending = hasLog ? await (await this.#restoreOf(conversation)).pending() : undefined;
    if (!pending) return undefined;
    const last = await this.#readLast(conversation.key).catch(() => undefined);
    const isUndo = last !== undefined && isSameSnapshot(pending.target, last.now);
    const end = async (isFinished: boolean): Promise<RestoreResult> => {
      const result = await conversation.changes.work.run('restore', async (progress, signal) => {
        const found = await (await this.#restoreOf(conversation)).pending();
        if (!found) throw noRestore();
        return isFinished ? found.finish(signal, progress) : found.takeBack(signal, progress);
      });
      await this.#onEnd(conversation, result, isFinished === isUndo);
      return result;
    };
    return { files: pending.files, isUndo, finish: () => end(true), takeBack: () => end(false) };
  }

  /** @param isUndone the last restore was fully reverted, so nothing is left to undo */
  async #onEnd({ changes, key }: Conversation, result: RestoreResult, isUndone: boolean): Promise<void> {
    const review = await changes.loadReview();
    const last = isUndone && !result.isCancelled ? await this.#readLast(key).catch(() => undefined) : undefined;
    if (!last) {
      await review.restored(result.done);
      return;
    }
    await review.reset(last.review);
    // Failed writes can be undone later.
    if (result.failed.length === 0) await this.options.store.remove(key);
  }

  async #planTo(
    conversation: Conversation,
    target: Snapshot,
    agentFiles: AgentEdits,
    signal: AbortSignal,
  ): Promise<RestorePlan> {
    const states = await conversation.changes.states();
    const now = await states.take(signal);
    // Repositories that can't be read stay as they are.
    if (now.gaps.some(({ why }) => why !== 'repositories'))
      throw new ParleyError(
        'no-checkpoint',
        localizable("The folder couldn't be read completely, so nothing is restored."),
      );
    await states.hold(now, `restore-${Date.now()}`);
    return (await this.#restoreOf(conversation)).plan(target, now, agentFiles, signal);
  }

  #logOf({ key }: Conversation): string {
    return this.options.logs.pathOf(key);
  }

  async #restoreOf(conversation: Conversation): Promise<Restore> {
    const { roots, changes } = conversation;
    const log = this.#logOf(conversation);
    await mkdir(dirname(log), { recursive: true });
    return new Restore({
      states: await changes.states(),
      files: this.options.files,
      isProtected: async (path) => isProtected(path, await realTarget(path), roots),
      log,
    });
  }

  async #readLast(key: string): Promise<{ target: Snapshot; now: Snapshot; review: unknown }> {
    const text = await this.options.store.read(key);
    const found = text === undefined ? undefined : undo.safeParse(JSON.parse(text));
    if (!found?.success) throw noRestore();
    const { target, now, review } = found.data;
    return { target: { ...target, gaps: [] }, now: { ...now, gaps: [] }, review };
  }
}

function noRestore(): ParleyError {
  return new ParleyError('no-restore', localizable('There is no restore to undo.'));
}
