// What an agent asks the user: permissions, forms and pages, and questions about files. All of it
// is answered at once when its turn stops or ends, or when the agent is gone.
import type { SessionEvent } from '../../session/events/event';
import type { SessionState } from '../../session/model/state';
import { ElicitationRequestHandler } from './elicitationRequestHandler';
import { type AskFile, FileQuestions } from './fileQuestions';
import type { JudgePermission } from './judgement';
import { PermissionRequestHandler } from './permissionRequestHandler';

export class UserRequests {
  readonly permissions: PermissionRequestHandler;
  readonly elicitations: ElicitationRequestHandler;
  /** Asks the user about a file; refuses each one once the turn is cancelled. */
  readonly askFile: AskFile;
  readonly #fileQuestions: FileQuestions;

  /**
   * @param isCancelled whether the running turn was cancelled
   * @param judge what rules say of a permission request
   */
  constructor(apply: (event: SessionEvent) => void, isCancelled: () => boolean, judge?: JudgePermission) {
    this.permissions = new PermissionRequestHandler(apply, judge);
    this.elicitations = new ElicitationRequestHandler(apply);
    this.#fileQuestions = new FileQuestions(this.permissions);
    this.askFile = async (question, signal) => !isCancelled() && (await this.#fileQuestions.ask(question, signal));
  }

  /** Questions of an earlier window are open again; their agent asks each once more. */
  restore({
    permissions,
    elicitations,
    entries,
  }: Pick<Readonly<SessionState>, 'permissions' | 'elicitations' | 'entries'>): void {
    this.permissions.restore([...permissions.values()], entries);
    this.elicitations.restore([...elicitations.values()]);
  }

  /** The user stops the turn. */
  turnStopped(): void {
    this.permissions.cancelAll('turn');
    this.#fileQuestions.turnEnded();
    this.elicitations.turnEnded(true);
  }

  /**
   * The turn is over.
   * @param reportsStates the agent reports its states, and withdraws what is over
   */
  turnEnded(reportsStates: boolean): void {
    // Some agents end a turn without a word about a question that is left open. Of one that reports
    // its states, an open question may be asked by work beside the turns.
    if (!reportsStates) this.permissions.cancelAll('turn');
    this.#fileQuestions.turnEnded();
    this.elicitations.turnEnded(false);
  }

  /** The agent is gone. */
  agentExited(): void {
    this.permissions.cancelAll('exit');
    this.#fileQuestions.turnEnded();
    this.elicitations.exited();
  }
}
