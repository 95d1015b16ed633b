// What becomes of a session's turn, queue and questions when its agent is gone. Where only the
// connection is lost, the turn stays open until the agent was asked about it over the next one.
import { isIdle } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import { messageOf } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import type { PromptQueue } from '../../session/queue/queue';
import { detailed } from '../../session/queue/waitReason';
import { resolveDoubtfulPrompts } from '../../session/reconcile/doubtfulPrompts';
import { askStatus } from '../connection/askStatus';
import type { AgentEnd } from '../connection/connectionState';
import type { LivenessProbe } from '../connection/livenessProbe';
import type { AgentLink, OpenedSession } from '../ports/agentLink';
import type { TurnControl } from '../prompts/turnControl';
import type { Subagents } from '../requests/subagents';
import type { ConversationServices } from './conversationOptions';
import type { KeptItem } from './persistence';
import { unansweredPrompt } from './restore';
import { RunningCalls } from './runningCalls';

/**
 * How long an agent that has a turn since another connection, and does not say what it does, may
 * send nothing, in milliseconds: as long as a model may think.
 */
const QUIET_MS = 60_000;

export interface AgentLossParts {
  /** Ours of the session. */
  readonly key: string;
  readonly services: Pick<ConversationServices, 'terminals' | 'rejoinQuietMs' | 'log'>;
  readonly model: SessionView;
  readonly queue: PromptQueue;
  readonly probe: LivenessProbe;
  readonly turns: () => TurnControl;
  readonly subagents: () => Subagents;
  /** Undefined while no session is open. */
  readonly session: () => OpenedSession | undefined;
  /** The session is another window's. */
  readonly isHeld: () => boolean;
}

export class AgentLoss {
  readonly #parts: AgentLossParts;
  /** The prompt of the turn that waits, where nothing shows that the agent has it. */
  #inDoubt: KeptItem | undefined;
  /** The agent has repeated the session since, with that prompt or without it. */
  #hasRepeated = false;
  /** That prompt was among what it repeated. */
  #isShown = false;
  #stopsAgain = false;
  readonly #running = new RunningCalls();

  constructor(parts: AgentLossParts) {
    this.#parts = parts;
  }

  /**
   * The agent is gone. What is queued for a session that was lost waits until the user says
   * otherwise. A start that failed has lost nothing: what was sent for it goes with the next one.
   * @param isLeft its window ends, or has ended
   */
  detached({ note, interrupted }: AgentEnd, hadSession: boolean, isLeft: boolean): void {
    const { key, services, model, queue, probe, turns, subagents, isHeld } = this.#parts;
    probe.set('unknown');
    // What may have arrived is asked about where the session continues.
    const inDoubt = hadSession && !isHeld() && !this.#isShown ? unansweredPrompt(model.state) : undefined;
    this.#isShown = false;
    if (inDoubt) queue.putFirst(inDoubt);
    const why = isLeft || note === 'window-ended' ? 'window-ended' : detailed('agent-ended', note);
    if (hadSession && queue.items.length > 0) queue.pause(why);
    turns().exited(note, interrupted);
    subagents().ended();
    void services.terminals.closeSession(key);
  }

  /**
   * The connection is lost, and may be made again. Commands that the agent runs here go on.
   * @param link absent: that of an earlier window
   * @returns whether a turn waits for that
   */
  cut(link?: AgentLink): boolean {
    const { model, probe, turns } = this.#parts;
    const inDoubt = unansweredPrompt(model.state);
    if (!turns().cut(link)) return false;
    this.#inDoubt = inDoubt;
    this.#hasRepeated = false;
    this.#isShown = false;
    probe.set('unknown');
    return true;
  }

  /** The agent repeats the session: what it shows has arrived. */
  repeated(repeated: readonly Entry[]): void {
    const { model, queue, turns } = this.#parts;
    for (const item of resolveDoubtfulPrompts(queue, model.state.entries, repeated)) turns().dispatcher.forget(item);
    this.#hasRepeated = true;
    if (!this.#inDoubt) return;
    const waiting = { items: [this.#inDoubt], remove: () => undefined };
    this.#isShown ||= resolveDoubtfulPrompts(waiting, model.state.entries, repeated).length > 0;
  }

  /** The agent was asked about the session. @returns false where the turn that waits is lost */
  rejoined(status: SessionStatus): boolean {
    const { model, turns, subagents } = this.#parts;
    // It may also have said something since.
    const isCertain = this.#isShown || this.#inDoubt === undefined || !unansweredPrompt(model.state);
    if (!turns().rejoin(status, isCertain ? true : this.#hasRepeated ? false : undefined)) return false;
    this.#isShown = false;
    subagents().resume(model.state.entries);
    this.#stopsAgain = turns().isCancelled;
    this.#watch();
    return true;
  }

  /** The session can be used. That the turn is to stop may not have reached the agent. */
  ready(): void {
    if (this.#stopsAgain) this.#parts.turns().cancel();
    this.#stopsAgain = false;
  }

  /** An agent that has the turn and says nothing is asked again. */
  #watch(): void {
    const { turns, services } = this.#parts;
    turns().driver.whenQuiet(services.rejoinQuietMs ?? QUIET_MS, () => void this.#wasQuiet());
  }

  async #wasQuiet(): Promise<void> {
    const { model, session, turns, services } = this.#parts;
    const opened = session();
    const turn = model.state.turn?.id;
    if (!opened || turn === undefined) return; // another connection is waited for
    if (isAwaited(model)) {
      this.#watch();
      return;
    }
    const { router } = opened.link;
    const heard = router.updatesOf(opened.sessionId);
    const { answer, state } = await askStatus(opened, new AbortController().signal).catch(
      (error: unknown): SessionStatus => {
        services.log.info(`session/status: ${messageOf(error)}`);
        return { answer: 'unsupported' };
      },
    );
    if (session()?.link !== opened.link || model.state.turn?.id !== turn) return;
    // What it has said or asked meanwhile shows that it goes on, whatever it answers.
    if (router.updatesOf(opened.sessionId) !== heard || isAwaited(model)) {
      this.#watch();
      return;
    }
    if (state) turns().state(state);
    if (state ? !isIdle(state) : answer === 'live' && this.#running.look(model.state, turn)) this.#watch();
    else this.#gaveNoEnd();
  }

  #gaveNoEnd(): void {
    const { model, queue, turns } = this.#parts;
    if (!model.state.turn) return;
    const inDoubt = unansweredPrompt(model.state);
    if (inDoubt) queue.putFirst(inDoubt);
    const note = unsaidEnd();
    if (queue.items.length > 0) queue.pause(detailed('agent-ended', note));
    turns().driver.feed({ type: 'no_end', note });
  }
}

/** Why a turn counts as over that continued on another connection. */
export function unsaidEnd(): LocalizableText {
  return localizable("The connection was lost, and the agent doesn't say how the turn ended.");
}

/** Returns whether the agent waits for something here: an answer, or the end of a command. */
function isAwaited({ state }: SessionView): boolean {
  if (state.permissions.size > 0 || state.elicitations.size > 0) return true;
  return [...state.terminals.values()].some(({ exit, released }) => !exit && !released);
}
