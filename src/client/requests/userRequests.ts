// Everything that an agent asks the user: permissions, forms and pages, and access to files. All of
// it is answered immediately when the turn stops or ends, or the agent exits.
import type { SessionEvent } from '../../session/events/event';
import type { SessionState } from '../../session/model/state';
import { ElicitationRequestHandler } from './elicitationRequestHandler';
import { type AskFile, FileQuestions } from './fileQuestions';
import { type JudgePermission, PermissionRequestHandler } from './permissionRequestHandler';

export class UserRequests {
  readonly permissions: PermissionRequestHandler;
  readonly elicitations: ElicitationRequestHandler;
  readonly askFile: AskFile;
  readonly #fileQuestions: FileQuestions;

  constructor(apply: (event: SessionEvent) => void, isCancelled: () => boolean, judge?: JudgePermission) {
    this.permissions = new PermissionRequestHandler(apply, judge);
    this.elicitations = new ElicitationRequestHandler(apply);
    this.#fileQuestions = new FileQuestions(this.permissions);
    this.askFile = async (question, signal) => !isCancelled() && (await this.#fileQuestions.ask(question, signal));
  }

  /** Reopens questions of an earlier window; the agent repeats them. */
  restore({
    permissions,
    elicitations,
    entries,
  }: Pick<Readonly<SessionState>, 'permissions' | 'elicitations' | 'entries'>): void {
    this.permissions.restore([...permissions.values()], entries);
    this.elicitations.restore([...elicitations.values()]);
  }

  turnStopped(): void {
    this.permissions.cancelAll('turn');
    this.#fileQuestions.turnEnded();
    this.elicitations.turnEnded(true);
  }

  /** @param reportsStates the agent reports its states, and withdraws questions itself */
  turnEnded(reportsStates: boolean): void {
    // Some agents end turns without closing a question. If an agent reports states, background work
    // may be asking.
    if (!reportsStates) this.permissions.cancelAll('turn');
    this.#fileQuestions.turnEnded();
    this.elicitations.turnEnded(false);
  }

  agentExited(): void {
    this.permissions.cancelAll('exit');
    this.#fileQuestions.turnEnded();
    this.elicitations.agentExited();
  }
}
