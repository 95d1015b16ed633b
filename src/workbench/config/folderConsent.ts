// Asks once per version of its content whether a folder's configuration may start programs.

import { createHash } from 'node:crypto';
import { type ExtensionContext, env, l10n, UIKind } from 'vscode';
import { Configured } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import { head } from '../../base/text';
import { isTooLong } from '../ui/inertText';
import { askModal } from '../ui/messages';
import { isNewUse, type RememberedAnswer, type RememberedAnswers } from './rememberedAnswers';

const DECISIONS = 'parley.folder.decisions';
const MAX_DECISIONS = 100;

const MAX_QUESTION = 500;

/** Earlier versions stored only yes or no. */
type Decision =
  | boolean
  | {
      readonly allowed: boolean;
      readonly question: string;
      /** 0 if unknown. */
      readonly at: number;
      readonly used?: number;
    };

interface FolderContent {
  /** Everything that has an effect; any change asks again. */
  readonly content: string;
  readonly question: string;
  readonly detail: string;
}

type ConsentAnswer = 'yes' | 'no' | 'undecided' | 'too-long';

interface FolderConsentOptions {
  readonly context: Pick<ExtensionContext, 'workspaceState'>;
  readonly log: Log;
  /** Replaces the modal dialog in tests. Undefined: not decided. */
  readonly agree?: (question: string, detail: string) => Promise<boolean | undefined>;
}

export class FolderConsent extends Configured<FolderConsentOptions> implements RememberedAnswers {
  /** By content hash: sessions that start together ask once. */
  readonly #asking = new Map<string, Promise<ConsentAnswer>>();

  /** Asks unless the user has answered before, or the question can't be shown in full. */
  ask({ content, question, detail }: FolderContent): Promise<ConsentAnswer> {
    const hash = hashOf(content);
    const decision = this.#decisions()[hash];
    if (decision !== undefined) {
      this.#noteUse(hash, decision, question);
      return Promise.resolve(isYes(decision) ? 'yes' : 'no');
    }
    if (isTooLong(detail)) return Promise.resolve('too-long');
    const open = this.#asking.get(hash);
    if (open) return open;
    const asking = this.#ask(hash, question, detail).finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, asking);
    return asking;
  }

  answerTo(content: string): boolean | undefined {
    const decision = this.#decisions()[hashOf(content)];
    return decision === undefined ? undefined : isYes(decision);
  }

  list(): readonly RememberedAnswer[] {
    return Object.entries(this.#decisions())
      .map(([id, decision]) => {
        if (typeof decision === 'boolean') return { id, isAllowed: decision };
        const { allowed, question, at, used } = decision;
        return {
          id,
          isAllowed: allowed,
          subject: question,
          answeredAt: at > 0 ? at : undefined,
          usedAt: used,
        };
      })
      .reverse();
  }

  async remove(id: string): Promise<void> {
    await this.#write(Object.entries(this.#decisions()).filter(([hash]) => hash !== id));
  }

  async reset(): Promise<void> {
    await this.options.context.workspaceState.update(DECISIONS, undefined);
  }

  async #ask(hash: string, question: string, detail: string): Promise<ConsentAnswer> {
    const { log, agree = askInDialog } = this.options;
    const answer = await agree(question, detail);
    if (answer === undefined) {
      log.info(`Not decided: ${question}`);
      return 'undecided';
    }
    const decisions = Object.entries(this.#decisions()).slice(1 - MAX_DECISIONS);
    const now = Date.now();
    const decision = { allowed: answer, question: head(question, MAX_QUESTION), at: now, used: now };
    await this.#write([...decisions, [hash, decision]]);
    return answer ? 'yes' : 'no';
  }

  #noteUse(hash: string, stored: Decision, question: string): void {
    const now = Date.now();
    const decision = typeof stored === 'boolean' ? { allowed: stored, at: 0, question } : stored;
    if (!isNewUse(decision.used, now)) return;
    const noted = { ...decision, question: head(question, MAX_QUESTION), used: now };
    this.#write(Object.entries({ ...this.#decisions(), [hash]: noted })).catch((error: unknown) =>
      this.options.log.debug(`use of an answer not noted: ${messageOf(error)}`),
    );
  }

  async #write(decisions: readonly (readonly [hash: string, decision: Decision])[]): Promise<void> {
    await this.options.context.workspaceState.update(DECISIONS, Object.fromEntries(decisions));
  }

  #decisions(): Readonly<Record<string, Decision>> {
    return this.options.context.workspaceState.get<Record<string, Decision>>(DECISIONS, {});
  }
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

function isYes(decision: Decision): boolean {
  return typeof decision === 'boolean' ? decision : decision.allowed;
}

async function askInDialog(question: string, detail: string): Promise<boolean | undefined> {
  const yes = l10n.t('Allow');
  const no = l10n.t("Don't Allow");
  // “Don't allow” comes first, so Enter starts nothing. In a browser, VS Code keeps state there.
  const where =
    env.uiKind === UIKind.Web ? [l10n.t('Your choice is kept in this browser. Another browser asks again.')] : [];
  const answer = await askModal(question, [detail, ...where].join('\n\n'), [no, yes]);
  return answer === undefined ? undefined : answer === yes;
}
