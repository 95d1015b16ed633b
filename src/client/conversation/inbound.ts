// Receives what the agent sends to a conversation: updates, notifications and requests.

import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { readStateUpdate } from '../../acp/proposals/sessionState';
import { readCompleted } from '../../acp/protocol/elicitation';
import { at } from '../../base/untrusted';
import type { SessionView } from '../../session/model/model';
import type { SessionState } from '../../session/model/state';
import type { SessionChanges } from '../changes/sessionChanges';
import type { Connector } from '../connection/connector';
import type { LivenessProbe } from '../connection/livenessProbe';
import type { PastUpdates } from '../connection/sessionReplay';
import type { ToolSession } from '../mcp/editorTools';
import type { TurnControl } from '../prompts/turnControl';
import type { Subagents } from '../requests/subagents';
import { answerRequest } from './agentRequests';
import type { ConversationServices } from './conversationOptions';
import { hearUpdates } from './hearUpdates';
import type { Recorder } from './recorder';

/**
 * What shows that an agent got further. A server that drops each connection may repeat all other
 * updates.
 */
const SAYS_MORE: ReadonlySet<string> = new Set(['message', 'message_chunk', 'tool_call', 'tool_content', 'plan']);

/** Turns whose files the tools of the editor look at anew. */
const RECENT_TURNS = 3;

export interface InboundParts {
  readonly key: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  readonly recorder: Recorder;
  readonly turns: TurnControl;
  readonly subagents: Subagents;
  readonly probe: LivenessProbe;
  readonly connector: () => Connector;
  readonly changes: Pick<SessionChanges, 'beforeWrite'>;
  readonly model: SessionView;
}

export class Inbound {
  readonly #parts: InboundParts;

  constructor(parts: InboundParts) {
    this.#parts = parts;
  }

  /**
   * Takes the `update`s of the session's `session/update` notifications, in order.
   * @param past they repeat what was: the ends of turns in them end none here
   */
  updates(updates: readonly unknown[], past?: PastUpdates): void {
    const { services, recorder, turns, subagents, probe, connector } = this.#parts;
    const now = services.clock.now();
    probe.heard();
    turns.driver.feed({ type: 'update', isOutput: false });
    if (!past) this.#storeState(updates);
    const { dialect } = connector().agentSide ?? {};
    if (!dialect) return;
    recorder.together(() =>
      hearUpdates(updates, past, {
        dialect,
        driver: turns.driver,
        apply: (event) => recorder.applyAt(event, now),
        onState: (report) => turns.state(report),
        onApplied: (event) => {
          if (!past && SAYS_MORE.has(event.type)) connector().progressed();
          if (event.type === 'subagent') subagents.announce(event.sessionId);
        },
        log: services.log,
      }),
    );
  }

  /** The session, as the tools of the editor see it. */
  toolSession(): ToolSession {
    const { key, roots, recorder, turns, changes, model } = this.#parts;
    return {
      key,
      roots,
      isAtWork: () => turns.isBusy && !turns.isCancelled,
      ask: async (question, signal) => {
        const { outcome } = await turns.requests.permissions.ask(question, turns.isCancelled, signal);
        return outcome.outcome === 'selected' ? outcome.optionId : undefined;
      },
      apply: recorder.apply,
      changed: () => model.state.turns.slice(-RECENT_TURNS).flatMap(({ files }) => [...files]),
      beforeWrite: (path) => changes.beforeWrite(path),
    };
  }

  #storeState(updates: readonly unknown[]): void {
    const { key, services } = this.#parts;
    const state = services.agentState?.(key);
    if (!state) return;
    for (const update of updates) {
      const stored = readStateUpdate(update);
      if (typeof stored === 'string') services.log.warn(`The agent's state is not stored: ${stored}.`);
      else if (stored) state.store(stored);
    }
  }

  /** Takes any other notification. */
  notification(method: string, params: unknown): void {
    const { services, turns } = this.#parts;
    const done = method === 'elicitation/complete' ? readCompleted(params) : undefined;
    if (done !== undefined) turns.requests.elicitations.completed(done);
    else services.log.debug(`ignored notification ${method}`);
  }

  /** Answers a request. @throws as {@link answerRequest} */
  async request(method: string, params: unknown, signal: AbortSignal, id: string | number): Promise<unknown> {
    const { key, roots, services, turns, subagents, probe, connector, changes, model } = this.#parts;
    probe.heard();
    const answering = answerRequest(
      {
        key,
        roots,
        sessionId: () => connector().sessionId,
        terminals: services.terminals,
        requests: turns.requests,
        untilSubagentStopped: (id) => subagents.untilStopped(id),
        untilAnswered: (id) => connector().agentSide?.link.rpc?.untilAnswered(id),
        agentSide: () => connector().agentSide,
        isCancelled: () => turns.isCancelled,
        isStopped: () => isStopped(model.state),
        beforeWrite: (what) => changes.beforeWrite(what),
        tools: () => connector().tools,
      },
      method,
      params,
      signal,
      id,
    );
    return answering.catch((error: unknown) => {
      if (error instanceof RpcError && error.code === RPC_CODES.methodNotFound) this.#showRefused(method, params);
      throw error;
    });
  }

  /** What the user does not see otherwise. An update counts, although it must not be a request. */
  #showRefused(method: string, params: unknown): void {
    const { connector, recorder } = this.#parts;
    const update = method === 'session/update' ? at(params, 'update') : undefined;
    if (update !== undefined && at(params, 'sessionId') === connector().sessionId) this.updates([update]);
    else recorder.apply({ type: 'unknown_update', name: method, raw: params });
  }
}

/** Returns whether the newest turn was stopped. Work that is announced to go on may start commands. */
function isStopped({ turns, background }: Readonly<SessionState>): boolean {
  return turns.at(-1)?.cancelRequested === true && background.length === 0;
}
