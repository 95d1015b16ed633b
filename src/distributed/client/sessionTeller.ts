// Tells the user what happens to a session with agent servers beyond what the agents say.
import { inEnglish, type LocalizableText } from '../../base/localizable';
import type { SessionEvent } from '../../session/events/event';
import type { OwnText } from '../../session/events/ownText';
import type { SessionDescriptor } from '../model/model';
import { branchAction, type Fork, isKnownBranch } from './handOver';

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
    this.#tell('info', { code: 'server-took-over', args: [count] });
  }

  stillWorks(): void {
    this.#tell('info', { code: 'agent-still-works', args: [] });
  }

  forgotten(origin: string, count: number): void {
    this.#tell('warning', { code: 'server-forgot', args: [origin, count] });
  }

  answeredWithout(origin: string, count: number): void {
    this.#tell('warning', { code: 'server-answered-without', args: [origin, count] });
  }

  /** A branch that has only grown since the user was told of it is not told again. */
  fork(origin: string, fork: Fork): void {
    const { common, theirs } = fork;
    if (isKnownBranch(theirs, this.#told)) return;
    this.#told = [...this.#told, theirs].slice(-MAX_TOLD);
    const count = theirs.history.length - common;
    this.#tell('warning', { code: 'server-branch', args: [origin, common, count] }, undefined, branchAction(fork));
  }

  othersRecorded(count: number): void {
    this.#tell('warning', { code: 'others-recorded', args: [count] });
  }

  /** The server's version can't be read, so what it recorded is unknown. Told once per reason. */
  unreadable(reason: LocalizableText): void {
    const told = inEnglish(reason);
    if (this.#unreadable === told) return;
    this.#unreadable = told;
    this.#tell('warning', { code: 'not-comparable', args: [] }, reason);
  }

  leftOut(count: number): void {
    this.#tell('warning', { code: 'left-out', args: [count] });
  }

  /** The server at `origin` cannot follow the link to the state. Told once for each server. */
  stateStays(origin: string): void {
    if (this.#stateless.has(origin)) return;
    this.#stateless.add(origin);
    this.#tell('warning', { code: 'state-stays', args: [origin] });
  }

  notStopped(reason: LocalizableText): void {
    this.#tell('warning', { code: 'server-not-stopped', args: [] }, reason);
  }

  #tell(severity: string, said: OwnText, description?: LocalizableText, action?: { readonly id: string }): void {
    this.#emit({
      type: 'notice',
      severity,
      title: '',
      said,
      own: true,
      description,
      action,
    });
  }
}
