// Tells the user what happens to a session with agent servers beyond what the agents say.
import type { SessionEvent } from '../../session/events/event';
import type { SessionDescriptor } from '../model/model';
import { branchAction, isKnownBranch } from './branchName';
import type { Fork } from './handOver';

/** Branches that the user was told of. */
const MAX_TOLD = 20;

export class SessionTeller {
  readonly #emit: (event: SessionEvent) => void;
  #told: readonly SessionDescriptor[] = [];
  #unreadable: string | undefined;
  readonly #stateless = new Set<string>();

  constructor(emit: (event: SessionEvent) => void) {
    this.#emit = emit;
  }

  tookOver(count: number): void {
    this.#tell('info', `The agent server had ${more(count)} of this session; the chat goes on from there.`);
  }

  /** The next prompt waits for the run of a window that has ended. */
  stillWorks(): void {
    const description = 'It is sent when the agent is done. Stop ends what the agent works on.';
    this.#tell('info', 'The agent is still working on your previous message.', description);
  }

  /** The server at `origin` has lost the session since it answered last. */
  forgotten(origin: string, count: number): void {
    const title = `The agent server at ${origin} no longer has this session.`;
    this.#tell('warning', title, `All ${messages(count)} are sent to it again.`);
  }

  /** The server at `origin` has answered without the past. */
  answeredWithout(origin: string, count: number): void {
    const title = `The agent server at ${origin} answered without the earlier ${messages(count)}.`;
    this.#tell('warning', title, 'It no longer had them. They are sent again with the next message.');
  }

  /** A branch that has only grown since the user was told of it is not told again. */
  fork(origin: string, fork: Fork): void {
    const { common, theirs } = fork;
    if (isKnownBranch(theirs, this.#told)) return;
    this.#told = [...this.#told, theirs].slice(-MAX_TOLD);
    const title = `The agent server at ${origin} holds another branch of this session. Both are kept.`;
    const count = theirs.history.length - common;
    const theirsAre = `${messages(count)} that ${count === 1 ? 'is' : 'are'} not here`;
    const description = `After ${common} common ${common === 1 ? 'message' : 'messages'} it has ${theirsAre}. What you say here goes on from what you see here.`;
    this.#tell('warning', title, description, branchAction(fork));
  }

  /** The server has recorded another client's turn in the place of ours. */
  othersRecorded(count: number): void {
    const title = `Another client added ${messages(count)} to this session meanwhile.`;
    const description = 'The server kept those alone. Your message and its answer are sent along with the next one.';
    this.#tell('warning', title, description);
  }

  /**
   * What the server has of the session cannot be read here, so it is unknown what the server has
   * recorded. Told once for each reason.
   */
  unreadable(reason: string): void {
    if (this.#unreadable === reason) return;
    this.#unreadable = reason;
    this.#tell('warning', "The session can't be compared with that of the agent server.", reason);
  }

  leftOut(count: number): void {
    const which = count === 1 ? 'The oldest message' : `The ${count} oldest messages`;
    const title = `${which} that no server has can't be sent along.`;
    this.#tell('warning', title, 'Together they are larger than a request may be.');
  }

  /** The server at `origin` cannot follow the link to the state. Told once for each server. */
  stateStays(origin: string): void {
    if (this.#stateless.has(origin)) return;
    this.#stateless.add(origin);
    const title = `The agent server at ${origin} can't read the state of this session.`;
    this.#tell('warning', title, 'The state is kept on this machine only. The agent continues without it.');
  }

  notStopped(reason: string): void {
    this.#tell('warning', 'The agent server could not be told to stop.', reason);
  }

  #tell(
    severity: string,
    title: string,
    description?: string,
    action?: { readonly id: string; readonly label: string },
  ): void {
    this.#emit({
      type: 'notice',
      severity,
      title,
      own: true,
      ...(description !== undefined && { description }),
      ...(action && { action }),
    });
  }
}

function messages(count: number): string {
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}

function more(count: number): string {
  return `${count} more ${count === 1 ? 'message' : 'messages'}`;
}
