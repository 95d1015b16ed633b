// Asks the user about files that an agent may not access on its own: one card at a time in the
// transcript, all closed when the turn ends.
import * as l10n from '@vscode/l10n';
import type { PermissionRequestHandler } from './permissionRequestHandler';

/** More are refused without being shown. */
const MAX_WAITING = 20;

export interface FileQuestion {
  /** With links resolved. */
  readonly path: string;
  readonly access: 'read' | 'write';
  readonly reason: 'outside' | 'protected';
  readonly agentName: string;
}

export type AskFile = (question: FileQuestion, signal: AbortSignal) => Promise<boolean>;

const options = () =>
  [
    { optionId: 'allow', name: l10n.t('Allow'), kind: 'allow_once' },
    { optionId: 'refuse', name: l10n.t('Deny'), kind: 'reject_once' },
    { optionId: 'refuseAll', name: l10n.t('Deny All in This Turn'), kind: 'reject_always' },
  ] as const;

export class FileQuestions {
  readonly #permissions: Pick<PermissionRequestHandler, 'ask'>;
  #previous: Promise<unknown> = Promise.resolve();
  #pendingCount = 0;
  #refusesAll = false;
  #turn = new AbortController();

  constructor(permissions: Pick<PermissionRequestHandler, 'ask'>) {
    this.#permissions = permissions;
  }

  readonly ask: AskFile = async (question, signal) => {
    if (this.#refusesAll || this.#pendingCount >= MAX_WAITING) return false;
    const over = AbortSignal.any([signal, this.#turn.signal]);
    this.#pendingCount += 1;
    const asked = this.#previous.then(() => (this.#refusesAll || over.aborted ? false : this.#ask(question, over)));
    this.#previous = asked.catch(() => undefined);
    try {
      return await asked;
    } finally {
      this.#pendingCount -= 1;
    }
  };

  /** The next turn asks again. */
  turnEnded(): void {
    this.#turn.abort();
    this.#turn = new AbortController();
    this.#refusesAll = false;
  }

  async #ask({ path, access, reason, agentName }: FileQuestion, signal: AbortSignal): Promise<boolean> {
    const title =
      reason === 'outside'
        ? access === 'read'
          ? l10n.t('Allow {0} to read a file outside its folders?', agentName)
          : l10n.t('Allow {0} to write a file outside its folders?', agentName)
        : l10n.t('Allow {0} to change a file that can start programs?', agentName);
    const { outcome } = await this.#permissions.ask({ title, description: path, options: options() }, false, signal);
    if (outcome.outcome !== 'selected') return false;
    if (outcome.optionId === 'refuseAll') this.#refusesAll = true;
    return outcome.optionId === 'allow';
  }
}
