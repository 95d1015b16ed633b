// Receives an agent's updates, notifications and requests for a conversation.

import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { notifiedSuggestion } from '../../acp/proposals/promptSuggestions';
import { readStateUpdate } from '../../acp/proposals/sessionState';
import { readAuthUpdate } from '../../acp/protocol/authStatus';
import type { Dialect, PermissionAsk, StateReport } from '../../acp/protocol/dialect';
import { readCompleted } from '../../acp/protocol/elicitation';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';
import type { SessionView } from '../../session/model/model';
import type { Entry, SessionState } from '../../session/model/state';
import type { SessionChanges } from '../changes/sessionChanges';
import type { Connector } from '../connection/connector';
import type { LivenessProbe } from '../connection/livenessProbe';
import type { PastUpdates } from '../connection/sessionReplay';
import type { AgentSession } from '../connection/startAgent';
import { noteServers } from '../mcp/serverStates';
import { feedEvent } from '../prompts/heardEvent';
import type { TurnControl } from '../prompts/turnControl';
import type { Subagents } from '../requests/subagents';
import type { TurnFact } from '../turns/turnState';
import { answerRequest } from './agentRequests';
import type { ConnectionEvents } from './connectionEvents';
import type { ConversationServices } from './conversationOptions';
import type { Recorder } from './recorder';

/**
 * Event types that count as progress. A server that drops each connection may repeat all others.
 */
const PROGRESS_EVENTS: ReadonlySet<string> = new Set(['message', 'message_chunk', 'tool_call', 'tool_content', 'plan']);

/** Turns whose files the editor tools can read again. */
const RECENT_TURNS = 3;

export interface HearingConversation {
  readonly key: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  readonly model: SessionView;
  readonly recorder: Recorder;
  readonly turns: TurnControl;
  readonly subagents: Subagents;
  readonly probe: LivenessProbe;
  readonly connector: Pick<Connector, 'agentSide' | 'authReported' | 'sessionId' | 'tools' | 'progressed'>;
  readonly changes: Pick<SessionChanges, 'beforeWrite'>;
  readonly events: Pick<ConnectionEvents, 'repeated'>;
}

export class Inbound implements AgentSession {
  readonly key: string;
  readonly roots: readonly string[];
  readonly #conversation: HearingConversation;
  readonly #onlySends: boolean;

  /** @param onlySends the agent's requests wait for the next window */
  constructor(conversation: HearingConversation, onlySends = false) {
    this.key = conversation.key;
    this.roots = conversation.roots;
    this.#conversation = conversation;
    this.#onlySends = onlySends;
  }

  get transcript(): Readonly<SessionState> {
    return this.#conversation.model.state;
  }

  readonly apply = (event: SessionEvent): void => this.#conversation.recorder.apply(event);

  readonly feed = (fact: TurnFact): void => void this.#conversation.turns.driver.feed(fact);

  readonly reportState = (report: StateReport): void => this.#conversation.turns.state(report);

  repeated(entries: readonly Entry[]): void {
    this.#conversation.events.repeated(entries);
  }

  /**
   * Handles the `update`s of `session/update` notifications, in order.
   * @param past set if they are replayed: ends of turns in them don't end the running turn
   */
  readonly updates = (updates: readonly unknown[], past?: PastUpdates): void => {
    const { services, recorder, subagents, probe, connector } = this.#conversation;
    const now = services.clock.now();
    probe.onUpdate();
    this.feed({ type: 'update', isOutput: false });
    if (!past) this.#storeState(updates);
    const { dialect, link } = connector.agentSide ?? {};
    if (!dialect) return;
    if (link && !past) noteServers(link, updates, now);
    recorder.together(() =>
      readUpdates(dialect, updates, past, this, services.log, (event, isApplied) => {
        if (event.type === 'subagent' && !subagents.isSubagent(event.sessionId)) return;
        if (!isApplied) recorder.applyAt(event, now);
        if (!past && PROGRESS_EVENTS.has(event.type)) connector.progressed();
        if (event.type === 'subagent') subagents.register(event.sessionId);
      }),
    );
  };

  #storeState(updates: readonly unknown[]): void {
    const { services } = this.#conversation;
    const state = services.agentState?.(this.key);
    if (!state) return;
    for (const update of updates) {
      const stored = readStateUpdate(update);
      if (typeof stored === 'string') services.log.warn(`The agent's state is not stored: ${stored}.`);
      else if (stored) state.store(stored);
    }
  }

  readonly notification = (method: string, params: unknown): void => {
    const { services, turns, connector } = this.#conversation;
    const done = method === 'elicitation/complete' ? readCompleted(params) : undefined;
    const suggestion = notifiedSuggestion(method, params, connector.sessionId);
    if (done !== undefined) turns.requests.elicitations.completed(done);
    else if (suggestion) this.apply(suggestion);
    else if (readAuthUpdate(method, params)) connector.authReported();
    else services.log.debug(`ignored notification ${method}`);
  };

  readonly request = async (
    method: string,
    params: unknown,
    signal: AbortSignal,
    id: string | number,
  ): Promise<unknown> => {
    if (this.#onlySends) return new Promise(() => {});
    this.#conversation.probe.onUpdate();
    try {
      return await answerRequest(this.#conversation, method, params, signal, id);
    } catch (error) {
      if (error instanceof RpcError && error.code === RPC_CODES.methodNotFound) this.#showRefused(method, params);
      throw error;
    }
  };

  /** Shows a refused request. An update is applied although it must not be a request. */
  #showRefused(method: string, params: unknown): void {
    const { connector } = this.#conversation;
    const update = method === 'session/update' ? at(params, 'update') : undefined;
    if (update !== undefined && at(params, 'sessionId') === connector.sessionId) this.updates([update]);
    else this.apply({ type: 'unknown_update', name: method, raw: params });
  }

  readonly isAtWork = (): boolean => {
    const { turns } = this.#conversation;
    return turns.isBusy && !turns.isCancelled;
  };

  async ask(question: PermissionAsk, signal: AbortSignal): Promise<string | undefined> {
    const { turns } = this.#conversation;
    const { outcome } = await turns.requests.permissions.ask(question, turns.isCancelled, signal);
    return outcome.outcome === 'selected' ? outcome.optionId : undefined;
  }

  readonly changed = (): readonly string[] =>
    this.transcript.turns.slice(-RECENT_TURNS).flatMap(({ files }) => [...files]);

  beforeWrite(path?: string): Promise<void> {
    return this.#conversation.changes.beforeWrite(path);
  }
}

/**
 * Reads updates. What they mean for turns goes to the engine.
 * @param past set if they are replayed
 * @param take receives each event; `isApplied`: the engine applies it
 */
export function readUpdates(
  dialect: Dialect,
  updates: readonly unknown[],
  past: PastUpdates | undefined,
  { feed, reportState }: Pick<AgentSession, 'feed' | 'reportState'>,
  log: Log,
  take: (event: SessionEvent, isApplied: boolean) => void,
): void {
  dialect.readUpdates(updates, {
    emit: (event) => {
      for (const read of past?.asSaid(event) ?? [event]) take(read, feedEvent(read, feed));
    },
    onTurnComplete: past?.onTurnComplete ?? ((barrier) => feed({ type: 'complete', barrier })),
    onState: past?.onState ?? reportState,
    log,
  });
}
