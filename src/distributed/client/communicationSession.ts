// A chat session with an HTTP agent: prompts become runs, questions are answered by the next
// prompt, and the session can move to another server at any time.
import { errorText, messageOf, ParleyError } from '../../base/errors';
import { inEnglish, type Localizable, type LocalizableText, localizable } from '../../base/localizable';
import { type Log, silentLog } from '../../base/log';
import type { ContentBlock } from '../../session/events/content';
import type { EventOf, SessionEvent, StopReason } from '../../session/events/event';
import type { OwnText, OwnTexts } from '../../session/events/ownText';
import type { HistoryLinks } from '../fetch/historyLinks';
import { Deadline } from '../model/deadline';
import { type Message, mintId, type Run, type SessionDescriptor, timestamp } from '../model/model';
import { AgentServerError } from './agentServerError';
import type { CommunicationClient } from './communicationClient';
import {
  CONTINUE_RECORDED,
  CONTINUE_WITHOUT,
  deadLinks,
  isLoadFailure,
  recoveryActions,
  withoutUnrecorded,
} from './deadLinks';
import { branchAction, type Fork, isKnownBranch, type ServerAnswer } from './handOver';
import { promptMessage } from './runParts';
import { type FollowOptions, followRun, isTransient, MissedRun, type RunPosition } from './runRecovery';
import { RunToEvents } from './runToEvents';
import { type KeptPast, type MessageRecorder, SessionPast } from './sessionPast';

export interface AgentEndpoint {
  readonly client: CommunicationClient;
  readonly agentName: string;
}

export interface SendOutcome {
  readonly stopReason: StopReason;
  readonly isAwaiting: boolean;
}

export interface CommunicationSessionOptions {
  readonly endpoint: AgentEndpoint;
  readonly past: KeptPast;
  readonly dead?: readonly string[];
  readonly visited?: readonly string[];
  readonly emit: (event: SessionEvent) => void;
  readonly links?: HistoryLinks;
  /** Saves {@link CommunicationSession.kept} before a prompt is sent. Never rejects. */
  readonly keep?: () => Promise<void>;
  readonly onDidFork?: (fork: Fork) => void;
  /** Shows the end of a missed run. Returns false if it has no place in the transcript. */
  readonly onDidMiss?: (events: readonly SessionEvent[]) => boolean;
  readonly now: () => number;
  readonly follow?: FollowOptions;
  /** Milliseconds for reading a server's version, and for a cancelled run to end. */
  readonly lookMs?: number;
  readonly stopMs?: number;
  readonly log?: Log;
}

interface ActiveRun {
  readonly position: RunPosition;
  readonly reader: RunToEvents;
  readonly abort: AbortController;
  isStopped: boolean;
  input: readonly Message[];
  failure?: Failure;
}

type Failure = EventOf<'error'>;

const LOOK_MS = 5000;
const STOP_MS = 10_000;
/** Remote parts of one run that become gaps. */
const MAX_GAPS = 100;
const MAX_KNOWN = 20;
const unreachableHint = (): Localizable =>
  localizable("The agent couldn't reach a server that it requires. See the agent server's log.");

export class CommunicationSession {
  readonly #options: CommunicationSessionOptions;
  readonly #past: SessionPast;
  readonly #log: Log;
  readonly #lookMs: number;
  #endpoint: AgentEndpoint;
  #serverMemory: 'new' | 'answered' = 'new';
  readonly #visitedOrigins: Set<string>;
  #knownBranches: readonly SessionDescriptor[] = [];
  readonly #sentNotices = new Set<string>();
  dead: readonly string[] = [];
  #active: ActiveRun | undefined;
  /** A run of the previous window with an unknown outcome. */
  #missedRun: MissedRun | undefined;
  #hasPartOfAnswer = false;
  #question: ActiveRun | undefined;

  constructor(options: CommunicationSessionOptions) {
    this.#options = options;
    this.#lookMs = options.lookMs ?? LOOK_MS;
    this.#endpoint = options.endpoint;
    this.#visitedOrigins = new Set(options.visited);
    this.#log = options.log ?? silentLog;
    this.dead = options.dead ?? [];
    this.#past = new SessionPast(options.past, { links: options.links, now: options.now });
  }

  get descriptor(): SessionDescriptor {
    return this.#past.descriptor;
  }

  get kept(): KeptPast {
    return this.#past.kept;
  }

  get isAwaiting(): boolean {
    return this.#question !== undefined;
  }

  /** `true` if the server has not named the run yet. */
  get running(): RunPosition | true | undefined {
    const position = this.#active?.position ?? (this.#missedRun && { runId: this.#missedRun.id, taken: 0 });
    if (!position) return undefined;
    return position.runId === undefined ? true : { ...position };
  }

  get visited(): readonly string[] {
    return [...this.#visitedOrigins];
  }

  get question(): RunPosition | undefined {
    return this.#question && { ...this.#question.position };
  }

  async handOut(recorder: MessageRecorder, signal: AbortSignal): Promise<SessionDescriptor> {
    if (this.#missedRun && !this.#active) await this.#catchUp(signal, this.#lookMs);
    return this.#past.handOut(recorder, signal);
  }

  /** The previous window ended during a run, which its server may have recorded since. */
  missedEnd(answer: Message | undefined, runId: string | undefined): void {
    const { follow: { pollMs = 1000 } = {}, stopMs = STOP_MS } = this.#options;
    const onWait = (): void => this.#notify('info', ownText('agent-still-works'));
    this.#missedRun = new MissedRun(runId, { pollMs, stopMs, onWait, log: this.#log });
    if (!answer) return;
    this.#hasPartOfAnswer = true;
    this.#past.held.add(answer);
    this.#past.held.doubtLastTurn();
  }

  /** Changes the past so that the failed prompt can be sent again. */
  carryOn(way: string, transcript: () => readonly Message[]): void {
    if (this.#active) throw busy();
    this.#past.held.withdrawLastTurn();
    if (way === CONTINUE_WITHOUT) this.#past.leaveOut(this.dead);
    else if (way === CONTINUE_RECORDED) this.#past.held.clear();
    else this.#past.replaceBy(transcript());
    this.dead = [];
    this.#serverMemory = 'new';
  }

  /** Restores an earlier question. Returns whether the run is still waiting. */
  async takeUp(asked: RunPosition, signal: AbortSignal): Promise<boolean> {
    if (this.#active) throw busy();
    if (asked.runId === undefined) return false;
    const { client } = this.#endpoint;
    const deadline = this.#deadline(signal);
    try {
      const run = await client.run(asked.runId, deadline.signal);
      if (run.status !== 'awaiting') return false;
      const question = newRun({ ...asked }, this.#log);
      // Its output so far is already in the transcript.
      question.reader.apply({ type: 'run.awaiting', run });
      if (this.#missedRun?.id === asked.runId) {
        this.#missedRun = undefined;
        const questionReader = new RunToEvents(mintId(), this.#log);
        for (const shown of questionReader.apply({ type: 'run.awaiting', run: { ...run, output: [] } }))
          this.#options.emit(shown);
        const message = run.await_request?.message;
        if (message) this.#past.held.add(message, { aside: true });
      }
      this.#question = question;
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      this.#log.info(`The question of run ${asked.runId} cannot be taken up: ${messageOf(error)}`);
      return false;
    } finally {
      deadline.dispose();
    }
  }

  /**
   * Resolves at the end of the turn. Throws AgentServerError; ParleyError `session-busy`,
   * `run-lost`, `run-not-awaiting`, `message-too-large`.
   */
  async send(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<SendOutcome> {
    if (this.#active) throw busy();
    const message = promptMessage(prompt, this.#options.now());
    const question = this.#question;
    const run = question ?? newRun({ runId: undefined, taken: 0 }, this.#log);
    this.#active = run;
    this.#question = undefined;
    const { held } = this.#past;
    try {
      const until = AbortSignal.any([signal, run.abort.signal]);
      if (!question) await this.#prepareRun(message, until);
      await this.#streamRun(run, message, question !== undefined, until);
      const { end } = run.reader;
      if (end?.status === 'awaiting') {
        this.#question = run;
        const asked = end.run?.await_request?.message;
        if (asked) held.add(asked, { aside: true });
        return { stopReason: end.stopReason, isAwaiting: true };
      }
      const output = end?.run?.output ?? [];
      for (const reply of output) held.add(reply);
      if (run.failure) {
        held.doubtLastTurn();
        await this.#emitFailure(run.failure, run, signal);
      }
      await this.#compareAfterRun(run, output.length, signal);
      return { stopReason: end?.stopReason ?? 'unknown', isAwaiting: false };
    } catch (error) {
      // It is unknown whether the server has the run, so the next one gets everything.
      this.#serverMemory = 'new';
      if (question && isTransient(error) && !run.isStopped) {
        // The question is still open, so the next prompt is the answer again.
        this.#question = question;
        held.withdraw(message);
      } else this.#keepLostRun(run, message, question !== undefined);
      if (run.isStopped && !signal.aborted) return { stopReason: 'cancelled', isAwaiting: false };
      throw error;
    } finally {
      this.#active = undefined;
    }
  }

  async cancel(): Promise<void> {
    const run = this.#active ?? this.#question;
    if (!run || run.isStopped) return;
    run.isStopped = true;
    const wasQuestion = run === this.#question;
    this.#question = undefined;
    const { runId } = run.position;
    if (runId === undefined) {
      run.abort.abort(runStopped());
      await this.#missedRun?.stop(this.#endpoint.client, AbortSignal.timeout(this.#lookMs));
      return;
    }
    try {
      await this.#endpoint.client.cancel(runId, new AbortController().signal);
    } catch (error) {
      // A run that has ended refuses, and its stream reports the end.
      if (!(error instanceof AgentServerError) || error.isSilence) {
        this.#notify('warning', ownText('server-not-stopped'), errorText(error));
        run.abort.abort(runStopped());
      }
    }
    if (!wasQuestion) this.#abortAfterGrace(run);
  }

  async moveTo(endpoint: AgentEndpoint, signal: AbortSignal): Promise<void> {
    if (this.#active) throw busy();
    const { client, agentName } = this.#endpoint;
    if (endpoint.agentName === agentName && endpoint.client.baseUrl === client.baseUrl) {
      // Only the connection changes; the agent's question is still open.
      this.#endpoint = endpoint;
      this.#serverMemory = 'new';
      return;
    }
    // Not awaited: the old server may be the reason to move.
    if (this.#question) void this.cancel();
    await this.#missedRun?.ended(this.#endpoint.client, signal, this.#lookMs);
    this.#missedRun = undefined;
    const fork = this.#visitedOrigins.has(this.#endpoint.client.origin)
      ? await this.#past.leave(await this.#askServer(signal), signal)
      : undefined;
    if (fork) this.#onFork(fork);
    this.#endpoint = endpoint;
    this.#serverMemory = 'new';
  }

  async #streamRun(run: ActiveRun, message: Message, isAnswer: boolean, signal: AbortSignal): Promise<void> {
    const { client, agentName } = this.#endpoint;
    const { follow = {}, emit, keep } = this.#options;
    const { held } = this.#past;
    if (!isAnswer) run.input = [...held.all.map((one) => one.message), message];
    held.add(message, isAnswer ? { aside: true } : {});
    await keep?.();
    const { sent } = this.#past;
    const named = this.#serverMemory === 'answered' ? { sessionId: sent.id } : { session: sent };
    const request = { agentName, input: run.input, ...named };
    const open = (until: AbortSignal) =>
      isAnswer ? client.resumeStream(run.position.runId ?? '', message, until) : client.runStream(request, until);
    if (!isAnswer) this.#visitedOrigins.add(client.origin);
    let isNamed = isAnswer;
    for await (const event of followRun(client, open, run.position, { log: this.#log, ...follow }, signal)) {
      if (!isNamed && run.position.runId !== undefined) {
        isNamed = true;
        // The next window finds the run by its id if this one ends later.
        await keep?.();
      }
      for (const shown of run.reader.apply(event)) {
        if (shown.type === 'error') run.failure = shown;
        else emit(shown);
      }
    }
  }

  #keepLostRun({ reader, position, isStopped }: ActiveRun, message: Message, isAnswer: boolean): void {
    const { held } = this.#past;
    // Without a response, the run presumably never started; if it did, the server reports it later.
    if (!isAnswer && position.runId === undefined && !isStopped) {
      held.withdraw(message);
      return;
    }
    const { parts } = reader;
    if (parts.length > 0) {
      const role = `agent/${this.#endpoint.agentName}`;
      held.add({ role, parts, created_at: timestamp(this.#options.now()) });
    }
    if (!isStopped) held.doubtLastTurn();
  }

  /** A server that lost the session gets all of it. */
  async #prepareRun(message: Message, signal: AbortSignal): Promise<void> {
    const { origin } = this.#endpoint.client;
    const { held } = this.#past;
    held.withdrawSame(message);
    await this.#catchUp(signal);
    if (await this.#past.prepare(origin, signal)) this.#serverMemory = 'new';
    if (this.#past.hidesState) this.#notifyOnce(ownText('state-stays', origin));
    held.nextTurn();
    const left = this.#past.fit(Buffer.byteLength(JSON.stringify(message)));
    if (left > 0) this.#notify('warning', ownText('left-out', left));
  }

  async #catchUp(signal: AbortSignal, maxMs?: number): Promise<void> {
    const { origin } = this.#endpoint.client;
    if (!this.#visitedOrigins.has(origin)) return;
    const missedRun = this.#missedRun;
    const isOver = (await missedRun?.ended(this.#endpoint.client, signal, maxMs)) !== false;
    const finding = this.#past.compare(await this.#askServer(signal));
    const missed = isOver && missedRun?.last ? this.#showMissed(missedRun.last) : 0;
    if (isOver) this.#missedRun = undefined;
    if (finding.kind === 'fork') this.#onFork(finding);
    else if (finding.kind === 'took-over' || finding.kind === 'forgotten') {
      await this.#past.takeRecord(finding.added, undefined, signal);
      if (finding.kind === 'took-over' && finding.added.length > missed)
        this.#notify('info', ownText('server-took-over', finding.added.length));
      else if (this.#serverMemory === 'answered')
        this.#notify('warning', ownText('server-forgot', origin, this.descriptor.history.length));
    }
    if (finding.kind !== 'agrees' && finding.kind !== 'took-over') this.#serverMemory = 'new';
  }

  /** Returns how many recorded messages are shown now. */
  #showMissed(run: Run): number {
    const reader = new RunToEvents(mintId(), this.#log, MAX_GAPS);
    const type = run.status === 'completed' ? 'run.completed' : 'run.cancelled';
    if (this.#options.onDidMiss?.(reader.apply({ type, run })) !== true) return 0;
    return this.#past.held.all.length - (this.#hasPartOfAnswer ? 1 : 0) + run.output.length;
  }

  async #compareAfterRun(run: ActiveRun, outputs: number, signal: AbortSignal): Promise<void> {
    const finding = this.#past.compare(await this.#askServer(signal));
    if (finding.kind === 'forgotten' && this.#serverMemory === 'answered') {
      this.#notify('warning', ownText('server-answered-without', this.#endpoint.client.origin, finding.missing));
    }
    if (finding.kind === 'fork') this.#onFork(finding);
    if (finding.kind === 'took-over' || finding.kind === 'forgotten') {
      const isOurs = await this.#past.takeRecord(finding.added, { input: run.input, outputs }, signal);
      if (isOurs === false && finding.added.length > 0)
        this.#notify('warning', ownText('others-recorded', finding.added.length));
    }
    this.#serverMemory = finding.kind === 'agrees' || finding.kind === 'took-over' ? 'answered' : 'new';
  }

  async #emitFailure(failure: Failure, { reader, input }: ActiveRun, signal: AbortSignal): Promise<void> {
    const { emit, links } = this.#options;
    const { history } = this.descriptor;
    const words = reader.end?.run?.error?.message ?? '';
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#lookMs)]);
    const dead = await deadLinks(words, history, links, limit);
    this.dead = dead.map(({ url }) => url);
    const isHistory = dead.length > 0 || (history.length > 0 && isLoadFailure(words));
    if (isHistory) emit({ ...failure, ...recoveryActions(dead, history.length) });
    else if (input.length > 1) emit({ ...failure, ...withoutUnrecorded(input.length - 1) });
    else emit({ ...failure, ...(isLoadFailure(words) && { hint: unreachableHint() }) });
  }

  async #askServer(signal: AbortSignal): Promise<ServerAnswer> {
    const { client } = this.#endpoint;
    const deadline = this.#deadline(signal);
    try {
      return { kind: 'session', descriptor: await client.session(this.descriptor.id, deadline.signal) };
    } catch (error) {
      if (signal.aborted) throw error;
      this.#log.info(`The session at ${client.origin} cannot be read: ${messageOf(error)}`);
      if (error instanceof AgentServerError && error.code === 'agent-server-answer')
        this.#notifyOnce(ownText('not-comparable'), error.texts.message);
      const isUnknown = error instanceof AgentServerError && error.status === 404;
      return { kind: isUnknown ? 'unknown' : 'unreachable' };
    } finally {
      deadline.dispose();
    }
  }

  #deadline(signal: AbortSignal): Deadline {
    return new Deadline(localizable('The agent server at {0}', this.#endpoint.client.origin), this.#lookMs, signal);
  }

  #abortAfterGrace(run: ActiveRun): void {
    const timer = setTimeout(() => run.abort.abort(runStopped()), this.#options.stopMs ?? STOP_MS);
    run.abort.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    timer.unref();
  }

  #onFork(fork: Fork): void {
    this.#options.onDidFork?.(fork);
    const { common, theirs } = fork;
    // Growth of a known branch is not reported again.
    if (isKnownBranch(theirs, this.#knownBranches)) return;
    this.#knownBranches = [...this.#knownBranches, theirs].slice(-MAX_KNOWN);
    const said = ownText('server-branch', this.#endpoint.client.origin, common, theirs.history.length - common);
    this.#notify('warning', said, undefined, branchAction(fork));
  }

  #notifyOnce(said: OwnText, description?: LocalizableText): void {
    const key = JSON.stringify([said, description && inEnglish(description)]);
    if (this.#sentNotices.has(key)) return;
    if (this.#sentNotices.size >= MAX_KNOWN) this.#sentNotices.clear();
    this.#sentNotices.add(key);
    this.#notify('warning', said, description);
  }

  #notify(severity: string, said: OwnText, description?: LocalizableText, action?: { readonly id: string }): void {
    this.#options.emit({ type: 'notice', severity, title: '', said, own: true, description, action });
  }
}

function ownText<Code extends keyof OwnTexts>(code: Code, ...args: OwnTexts[Code]): OwnText {
  return { code, args } as OwnText;
}

function newRun(position: RunPosition, log: Log): ActiveRun {
  const abort = new AbortController();
  return { position, reader: new RunToEvents(mintId(), log, MAX_GAPS), abort, isStopped: false, input: [] };
}

function busy(): ParleyError {
  return new ParleyError('session-busy', localizable('The agent is still working on the last message.'));
}

function runStopped(): ParleyError {
  return new ParleyError('run-cancelled', localizable('The run was stopped.'));
}
