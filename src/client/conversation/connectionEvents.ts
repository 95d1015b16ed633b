// Updates a session's turn, queue, questions and notices when its agent starts, is ready or ends.
// If only the connection is lost, the turn stays open until the agent can be asked about it.
import { isIdle } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import { required } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { messageOf, type ParleyError } from '../../base/errors';
import { inEnglish, type LocalizableText, lines, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import { ownText } from '../../session/events/ownText';
import type { SessionModel } from '../../session/model/model';
import type { Entry, SessionState } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import type { PromptQueue } from '../../session/queue/queue';
import { detailed } from '../../session/queue/waitReason';
import { resolveDoubtfulPrompts } from '../../session/reconcile/doubtfulPrompts';
import type { SessionChanges } from '../changes/sessionChanges';
import { askStatus } from '../connection/askStatus';
import type { AgentEnd, ConnectorListener } from '../connection/connectionState';
import type { Connector } from '../connection/connector';
import type { ContextHandoff } from '../connection/contextHandoff';
import { takenOver, untrusted } from '../connection/failures';
import type { LivenessProbe } from '../connection/livenessProbe';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import type { TurnControl } from '../prompts/turnControl';
import type { Subagents } from '../requests/subagents';
import type { Choices } from './choices';
import type { ConversationServices } from './conversationOptions';
import type { KeptProgress } from './keptProgress';
import type { ConversationPersistence, KeptItem } from './persistence';
import type { Recorder } from './recorder';
import { closingEvents, unansweredPrompt } from './restore';

/**
 * How long an agent may be silent in a turn that continues on another connection: as long as a
 * model may think.
 */
const QUIET_MS = 60_000;
const MAX_CHECKS = 10;
/** How long an agent may take to begin with a prompt that was sent before. */
const BEGINS_MS = 10_000;

export interface ConnectedConversation {
  readonly key: string;
  readonly agent: AgentDefinition;
  readonly sessionId: string | undefined;
  readonly services: ConversationServices;
  readonly persistence: ConversationPersistence | undefined;
  readonly recorder: Recorder;
  readonly queue: PromptQueue;
  readonly turns: TurnControl;
  readonly subagents: Subagents;
  readonly probe: LivenessProbe;
  readonly connector: Connector;
  readonly changes: SessionChanges;
  readonly choices: Choices;
  readonly progress: KeptProgress;
  readonly handoff: ContextHandoff;
  readonly readOnly: ParleyError | undefined;
  readonly endsWithWindow: boolean;
  isSuspended: boolean;
  note(events: readonly TimedEvent[]): void;
}

export class ConnectionEvents implements ConnectorListener {
  readonly #conversation: ConnectedConversation;
  readonly #model: SessionModel;
  readonly #notices: StartNotices;
  /** Prompt of the waiting turn, if nothing shows that the agent has it. */
  #doubtfulPrompt: KeptItem | undefined;
  #hasReplayed = false;
  #promptArrived = false;
  #resendsStop = false;
  readonly #runningCalls = new RunningCalls();

  constructor(conversation: ConnectedConversation, model: SessionModel) {
    this.#conversation = conversation;
    this.#model = model;
    this.#notices = new StartNotices(conversation.recorder.apply, conversation.services.log);
  }

  refuses(): ParleyError | undefined {
    const { readOnly, services, persistence } = this.#conversation;
    if (readOnly) return readOnly;
    if (!services.isTrusted()) return untrusted();
    return persistence?.claim() === false ? (this.#conversation.readOnly ?? takenOver()) : undefined;
  }

  changed(): void {
    this.#model.touch('connection');
  }

  described(facts: Parameters<ConversationPersistence['describe']>[0]): void {
    this.#conversation.persistence?.describe(facts);
  }

  starting(lastEnd: ParleyError | undefined): void {
    const { recorder, handoff, changes } = this.#conversation;
    if (lastEnd) {
      const { code, texts, stderr } = lastEnd;
      recorder.apply({ type: 'error', code, message: texts.message, stderr: stderr || undefined });
    }
    handoff.starting(this.#model.state.entries);
    changes.recover();
  }

  replacing(): void {
    this.#conversation.handoff.replacing(this.#model.state);
  }

  ready(problems: readonly LocalizableText[], isNew: boolean, notForked?: LocalizableText): void {
    const { agent, sessionId, handoff, progress, probe, changes, choices, turns } = this.#conversation;
    const { entries } = this.#model.state;
    if (handoff.ready(sessionId, isNew, entries)) this.#notices.newSession(agent.name, entries, notForked);
    this.#notices.missingServers(problems);
    progress.opened();
    probe.onUpdate();
    changes.warm();
    // The request to stop may not have reached the agent.
    if (this.#resendsStop) turns.cancel();
    this.#resendsStop = false;
    this.#conversation.isSuspended = false;
    choices.opened(isNew);
    turns.dispatcher.pump();
  }

  attached(opened: OpenedSession): void {
    const { key, progress, turns, subagents, changes, services } = this.#conversation;
    const { kept, rpc } = opened.link;
    const { lines, step, terminals } = required(progress.earlier);
    const session = required(kept);
    rpc?.resumeAfter(lines);
    progress.opened();
    turns.resume(opened, required(session.earlier).prompts);
    this.#conversation.note(session.takeHeldBack(step));
    subagents.resume(this.#model.state.entries);
    changes.resume();
    if (session.agent.commands) services.terminals.resume(key, session.agent.commands, terminals);
    progress.clearEarlier();
    session.agent.deliver(lines);
    this.ready([], false);
  }

  /**
   * Pauses the queue of a lost session. After a failed start nothing is lost, and messages go with
   * the next one.
   */
  detached({ note, interrupted }: AgentEnd, hadSession: boolean): void {
    const { key, services, queue, probe, turns, subagents, progress, recorder, readOnly } = this.#conversation;
    const { earlier } = progress;
    probe.set('unknown');
    const inDoubt = hadSession && !readOnly && !this.#promptArrived ? unansweredPrompt(this.#model.state) : undefined;
    this.#promptArrived = false;
    if (inDoubt) queue.putFirst(inDoubt);
    const windowEnded = this.#conversation.endsWithWindow || earlier !== undefined || note === 'window-ended';
    if (hadSession && queue.items.length > 0) queue.pause(windowEnded ? 'window-ended' : detailed('agent-ended', note));
    turns.exited(note, interrupted);
    subagents.onAgentEnded();
    void services.terminals.closeSession(key);
    if (!earlier) return;
    progress.clearEarlier();
    for (const event of closingEvents(this.#model.state, services.clock.now())) recorder.apply(event);
  }

  /**
   * The connection is lost, but may be restored. Commands that the agent runs here continue.
   * @param link absent: that of an earlier window
   * @returns whether a turn waits for that
   */
  cut(link?: AgentLink): boolean {
    const { recorder, probe, turns } = this.#conversation;
    return recorder.together(() => {
      const inDoubt = unansweredPrompt(this.#model.state);
      if (!turns.cut(link)) return false;
      this.#doubtfulPrompt = inDoubt;
      this.#hasReplayed = false;
      this.#promptArrived = false;
      probe.set('unknown');
      return true;
    });
  }

  repeated(repeated: readonly Entry[]): void {
    const { queue, turns } = this.#conversation;
    const { entries } = this.#model.state;
    for (const item of resolveDoubtfulPrompts(queue, entries, repeated)) turns.dispatcher.forget(item);
    this.#hasReplayed = true;
    if (!this.#doubtfulPrompt) return;
    const waiting = { items: [this.#doubtfulPrompt], remove: () => undefined };
    this.#promptArrived ||= resolveDoubtfulPrompts(waiting, entries, repeated).length > 0;
  }

  /** The agent has answered about the session. @returns false if the waiting turn is lost */
  rejoined(status: SessionStatus): boolean {
    const { recorder, turns, subagents } = this.#conversation;
    const { state } = this.#model;
    return recorder.together(() => {
      const isCertain = this.#promptArrived || this.#doubtfulPrompt === undefined || !unansweredPrompt(state);
      if (!turns.rejoin(status, isCertain ? true : this.#hasReplayed ? false : undefined)) return false;
      this.#promptArrived = false;
      subagents.resume(state.entries);
      this.#resendsStop = turns.isCancelled;
      this.#watch();
      return true;
    });
  }

  /** The agent may have worked on it already; then it reports nothing more. */
  duplicateAccepted(): void {
    const { driver } = this.#conversation.turns;
    const hasBegun = (): boolean => {
      const { turn } = driver.state;
      return !turn || turn.busySeen || turn.hasOutput === true || turn.ended !== undefined;
    };
    if (hasBegun() || driver.state.turn?.grace) return;
    driver.whenQuiet(BEGINS_MS, () => {
      if (!hasBegun()) void this.#onQuiet();
    });
  }

  #watch(): void {
    const { turns, services } = this.#conversation;
    turns.driver.whenQuiet(services.rejoinQuietMs ?? QUIET_MS, () => void this.#onQuiet());
  }

  async #onQuiet(): Promise<void> {
    const { connector, turns, services } = this.#conversation;
    const { session: opened } = connector;
    const { state: model } = this.#model;
    const turn = model.turn?.id;
    if (!opened || turn === undefined) return;
    if (isAwaited(model)) {
      this.#watch();
      return;
    }
    const { router } = opened.link;
    const updateCount = router.updatesOf(opened.sessionId);
    const { answer, state } = await askStatus(opened, new AbortController().signal).catch(
      (error: unknown): SessionStatus => {
        services.log.info(`session/status: ${messageOf(error)}`);
        return { answer: 'unsupported' };
      },
    );
    if (connector.session?.link !== opened.link || model.turn?.id !== turn) return;
    // Newer updates and questions show that the turn continues, whatever the answer.
    if (router.updatesOf(opened.sessionId) !== updateCount || isAwaited(model)) {
      this.#watch();
      return;
    }
    if (state) turns.state(state);
    if (state ? !isIdle(state) : answer === 'live' && this.#runningCalls.check(model, turn)) this.#watch();
    else this.#endUnknown();
  }

  #endUnknown(): void {
    const { queue, turns } = this.#conversation;
    const { state } = this.#model;
    if (!state.turn) return;
    const inDoubt = unansweredPrompt(state);
    if (inDoubt) queue.putFirst(inDoubt);
    const note = unknownEnd();
    if (queue.items.length > 0) queue.pause(detailed('agent-ended', note));
    turns.driver.feed({ type: 'no_end', note });
  }
}

export class RunningCalls {
  /** Running calls at the last check, and the number of checks with the same result. */
  #lastCheck = { calls: '', count: 0 };

  /** Returns whether a tool call of the turn runs, and not for too long. */
  check({ entries }: Readonly<SessionState>, turnId: string): boolean {
    const calls = entries
      .flatMap((entry) => (entry.kind === 'tool' && entry.turnId === turnId && !isEnded(entry.status) ? entry.id : []))
      .join();
    this.#lastCheck = { calls, count: calls === this.#lastCheck.calls ? this.#lastCheck.count + 1 : 1 };
    return calls !== '' && this.#lastCheck.count < MAX_CHECKS;
  }
}

export function unknownEnd(): LocalizableText {
  return localizable("The connection was lost, and the agent doesn't say how the turn ended.");
}

/** Returns whether the agent waits for the user or for a command here. */
function isAwaited({ permissions, elicitations, terminals }: Readonly<SessionState>): boolean {
  if (permissions.size > 0 || elicitations.size > 0) return true;
  return [...terminals.values()].some(({ exit, released }) => !exit && !released);
}

export class StartNotices {
  readonly #apply: (event: SessionEvent) => void;
  readonly #log: Log;
  readonly #reported = new Set<string>();

  constructor(apply: (event: SessionEvent) => void, log: Log) {
    this.#apply = apply;
    this.#log = log;
  }

  /** Warns that the agent doesn't have the transcript, once per opened session. */
  newSession(agentName: string, entries: readonly Entry[], description?: LocalizableText): void {
    const atEnd = entries.slice(entries.findLastIndex(({ kind }) => kind !== 'notice') + 1);
    if (atEnd.some((entry) => entry.kind === 'notice' && entry.beginsAnew)) return;
    const text = ownText('new-session', agentName);
    this.#apply({ type: 'notice', own: true, severity: 'info', title: '', said: text, description, beginsAnew: true });
  }

  missingServers(problems: readonly LocalizableText[]): void {
    for (const problem of problems) this.#log.warn(`MCP servers: ${inEnglish(problem)}`);
    const unreported = problems.filter((problem) => !this.#reported.has(inEnglish(problem)));
    for (const problem of unreported) this.#reported.add(inEnglish(problem));
    if (unreported.length === 0) return;
    const text = ownText('mcp-unavailable');
    this.#apply({
      type: 'notice',
      own: true,
      severity: 'warning',
      title: '',
      said: text,
      description: lines(unreported),
    });
  }
}
