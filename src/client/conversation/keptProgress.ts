// Stores how far the agent's output was processed, together with the events, so that another window
// continues without losses or duplicates.
import * as z from 'zod/mini';
import type { LineProgress } from '../../acp/jsonrpc/handledLines';
import { parsedJson } from '../../base/untrusted';
import type { SessionView } from '../../session/model/model';
import type { PromptQueue, QueueItem } from '../../session/queue/queue';
import type { Connector } from '../connection/connector';
import type { TurnControl } from '../prompts/turnControl';
import type { Terminals } from '../terminals/terminals';
import type { AgentKeepers } from '../transport/agentTransport';
import { type KeptTurns, keptTurns, keptTurnsSchema } from '../turns/turnState';
import type { KeptConversation, ReadProgress } from './persistence';
import { type AgentPlace, sentItem } from './restore';

/** In place of a keeper: the agent is on another machine. */
const FAR = 'far';

const progressSchema = z.object({
  keeper: z.string(),
  sessionId: z.optional(z.string()),
  step: z.number(),
  line: z.number(),
  open: z.array(z.number()),
  turns: keptTurnsSchema,
  terminals: z.optional(z.record(z.string(), z.number())),
});

export interface EarlierAgent {
  readonly sessionId: string;
  readonly where: AgentPlace;
  readonly step: number;
  readonly lines: LineProgress;
  readonly turns: KeptTurns;
  readonly terminals: Readonly<Record<string, number>>;
}

/**
 * Returns the progress of an earlier window with an agent that still runs. A remote agent may if
 * its turn was open.
 */
export function earlierAgent(
  key: string,
  kept: KeptConversation | undefined,
  keepers: AgentKeepers | undefined,
): EarlierAgent | undefined {
  if (kept?.progress === undefined || !keepers) return undefined;
  const { success, data } = progressSchema.safeParse(parsedJson(kept.progress));
  if (!success || data.sessionId === undefined) return undefined;
  const { sessionId, step, line, open, turns, terminals = {} } = data;
  const isRemote = data.keeper === FAR;
  const isOpen = turns.turn && turns.turn.ended === undefined && kept.model.state.turn?.id === turns.turn.id;
  const canContinue = isRemote
    ? keepers.isOn && kept.agentSessionId === sessionId && isOpen
    : keepers.find(key) === data.keeper;
  return canContinue
    ? { sessionId, where: isRemote ? 'far' : 'here', step, lines: { line, open }, turns, terminals }
    : undefined;
}

interface ProgressingConversation {
  readonly key: string;
  readonly model: Pick<SessionView, 'state'>;
  readonly turns: Pick<TurnControl, 'driver'>;
  readonly connector: Pick<Connector, 'agentSide' | 'sessionId' | 'canResumeRemotely'>;
  readonly services: { readonly terminals: Pick<Terminals, 'heardOf'> };
}

export class KeptProgress {
  readonly #conversation: ProgressingConversation;
  #earlier: EarlierAgent | undefined;
  #lease = '';
  #step: number;

  constructor(conversation: ProgressingConversation, earlier: EarlierAgent | undefined) {
    this.#conversation = conversation;
    this.#earlier = earlier?.where === 'here' ? earlier : undefined;
    this.#step = earlier?.step ?? 0;
  }

  get earlier(): EarlierAgent | undefined {
    return this.#earlier;
  }

  clearEarlier(): void {
    this.#earlier = undefined;
  }

  /** Undefined if the agent ends with the window. */
  read(): ReadProgress | undefined {
    const { key, turns, connector, services } = this.#conversation;
    if (!connector) return undefined; // while the conversation is being constructed
    const { kept, rpc } = connector.agentSide?.link ?? {};
    if (connector.canResumeRemotely) return this.#remoteProgress();
    if (!kept || !rpc) return undefined;
    const { requestIds, state } = turns.driver;
    const lines = rpc.progress(new Set(requestIds.values()));
    const open = keptTurns(state);
    const settled = kept.settled(new Set(open.prompts.flatMap((prompt) => (prompt.awaited ? [prompt.promptId] : []))));
    this.updateLease();
    const step = ++this.#step;
    return {
      json: JSON.stringify({
        keeper: kept.agent.id,
        sessionId: kept.sessionId,
        step,
        ...lines,
        turns: open,
        terminals: services.terminals.heardOf(key, this.#earlier?.terminals),
      }),
      holdBack: (events) => kept.holdBack(step, events),
      stored: () => {
        kept.stored(step, settled);
        kept.agent.stored(lines);
      },
    };
  }

  /** Line numbers don't count: a remote agent replays the session when it is loaded. */
  #remoteProgress(): ReadProgress {
    const { connector, turns } = this.#conversation;
    const { sessionId } = connector;
    const progress = { keeper: FAR, sessionId, step: 0, line: 0, open: [], turns: keptTurns(turns.driver.state) };
    return { json: JSON.stringify(progress), holdBack() {}, stored() {} };
  }

  /** Another window can continue the session from now on. */
  opened(): void {
    const { connector, turns } = this.#conversation;
    const { kept } = connector.agentSide?.link ?? {};
    this.#lease = '';
    kept?.promptsFrom(() => {
      this.updateLease();
      return turns.driver.requestIds;
    });
    this.updateLease();
  }

  updateLease(): void {
    const { connector, model, turns } = this.#conversation;
    const { kept, description } = connector.agentSide?.link ?? {};
    const id = connector.sessionId;
    if (!kept || id === undefined) return;
    const { agentState = 'idle', background, turn } = model.state;
    const endMarks = [...turns.driver.requestIds.values()].map(Number);
    const isAtWork = turn !== undefined || agentState !== 'idle' || background.length > 0;
    const goodbye = { jsonrpc: '2.0', id: 'goodbye', method: 'session/close', params: { sessionId: id } };
    const lease = {
      endMarks,
      isAtWork: isAtWork && endMarks.length === 0,
      goodbye: description?.features.close ? JSON.stringify(goodbye) : undefined,
    };
    const text = JSON.stringify(lease);
    if (text === this.#lease) return;
    this.#lease = text;
    kept.agent.lease(lease);
  }
}

export function promptOf(conversation: {
  readonly queue: PromptQueue;
  readonly model: SessionView;
}): (id: string) => QueueItem | undefined {
  return (id) => conversation.queue.find(id) ?? sentItem(conversation.model.state, id);
}
