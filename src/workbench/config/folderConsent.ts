// Asks the user before configuration of a folder may start programs: once for each version of its
// content, remembered for the workspace.
import { createHash } from 'node:crypto';
import { type ExtensionContext, l10n } from 'vscode';
import type { Log } from '../../base/log';
import { isTooLong } from '../ui/inertText';
import { askModal } from '../ui/messages';

const DECISIONS = 'parley.folder.decisions';
/** Decisions that are remembered. */
const MAX_DECISIONS = 100;

/** What is asked about. */
export interface FolderContent {
  /** Everything that takes effect: another content is another question. */
  readonly content: string;
  readonly question: string;
  /** All of it, as a person reads it. */
  readonly detail: string;
}

export type ConsentAnswer = 'yes' | 'no' | 'undecided' | 'too-long';

export interface FolderConsentOptions {
  readonly context: Pick<ExtensionContext, 'workspaceState'>;
  readonly log: Log;
  /** Asks instead of VS Code's modal dialog. Undefined: not decided. */
  readonly agree?: (question: string, detail: string) => Promise<boolean | undefined>;
}

export class FolderConsent {
  readonly #options: FolderConsentOptions;
  /**
   * Questions that are open, by the hash of their content: sessions that start together ask once.
   */
  readonly #asking = new Map<string, Promise<ConsentAnswer>>();

  constructor(options: FolderConsentOptions) {
    this.#options = options;
  }

  /**
   * Asks, unless the user has answered before. A question that cannot be shown whole is not asked.
   */
  ask({ content, question, detail }: FolderContent): Promise<ConsentAnswer> {
    const hash = createHash('sha256').update(content).digest('hex');
    const known = this.#decisions()[hash];
    if (known !== undefined) return Promise.resolve(known ? 'yes' : 'no');
    if (isTooLong(detail)) return Promise.resolve('too-long');
    const open = this.#asking.get(hash);
    if (open) return open;
    const asking = this.#ask(hash, question, detail).finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, asking);
    return asking;
  }

  /** Forgets all answers of this workspace. */
  async reset(): Promise<void> {
    await this.#options.context.workspaceState.update(DECISIONS, undefined);
  }

  async #ask(hash: string, question: string, detail: string): Promise<ConsentAnswer> {
    const { context, log, agree = askInDialog } = this.#options;
    const answer = await agree(question, detail);
    if (answer === undefined) {
      log.info(`Not decided: ${question}`);
      return 'undecided';
    }
    const decisions = Object.entries(this.#decisions()).slice(1 - MAX_DECISIONS);
    await context.workspaceState.update(DECISIONS, Object.fromEntries([...decisions, [hash, answer]]));
    return answer ? 'yes' : 'no';
  }

  #decisions(): Readonly<Record<string, boolean>> {
    return this.#options.context.workspaceState.get<Record<string, boolean>>(DECISIONS, {});
  }
}

async function askInDialog(question: string, detail: string): Promise<boolean | undefined> {
  const yes = l10n.t('Allow');
  const no = l10n.t("Don't Allow");
  // The first button has the focus, so Enter starts nothing.
  const answer = await askModal(question, detail, [no, yes]);
  return answer === undefined ? undefined : answer === yes;
}
