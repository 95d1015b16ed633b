// Keeps, together with the events of a session, how far its agent was heard, so that another window
// goes on where this one stood: nothing is applied twice, and nothing is left out.
import * as z from 'zod/mini';
import type { LineProgress } from '../../acp/jsonrpc/handledLines';
import type { SessionState } from '../../session/model/state';
import type { AgentLink } from '../ports/agentLink';
import type { TurnControl } from '../prompts/turnControl';
import type { AgentKeepers } from '../transport/agentTransport';
import { type KeptTurns, keptTurns, keptTurnsSchema } from '../turns/turnState';
import type { KeptConversation, ReadProgress } from './persistence';

/** In the place of a keeper: the agent is on another machine, and session/status tells about its turn. */
const FAR = 'far';

const progressSchema = z.object({
  keeper: z.string(),
  /** The agent's id of its session; absent: it was not open yet. */
  sessionId: z.optional(z.string()),
  /** Counts what was kept with the events of this agent. */
  step: z.number(),
  line: z.number(),
  open: z.array(z.number()),
  turns: keptTurnsSchema,
  /** Characters of the output of commands that the agent's keeper runs, by terminal. */
  terminals: z.optional(z.record(z.string(), z.number())),
});

/** Where an earlier window stood with an agent that still runs. */
export interface EarlierAgent {
  readonly sessionId: string;
  /** On this machine, or on another one, where it may have a turn of ours. */
  readonly where: 'here' | 'far';
  readonly step: number;
  readonly lines: LineProgress;
  readonly turns: KeptTurns;
  /** How many characters of the output of its commands were heard, by terminal. */
  readonly terminals: Readonly<Record<string, number>>;
}

/**
 * Returns where an earlier window stood with the agent of a session, if that still runs. One on
 * another machine may, where its turn was open.
 * @param kept the session as it was stored
 */
export function earlierAgent(
  key: string,
  kept: KeptConversation | undefined,
  keepers: AgentKeepers | undefined,
): EarlierAgent | undefined {
  if (kept?.progress === undefined || !keepers) return undefined;
  const { success, data } = progressSchema.safeParse(parsed(kept.progress));
  if (!success || data.sessionId === undefined) return undefined;
  const { sessionId, step, line, open, turns, terminals = {} } = data;
  const isFar = data.keeper === FAR;
  const mayGoOn = isFar
    ? keepers.isOn && kept.agentSessionId === sessionId && isOpen(turns.turn, kept.model.state)
    : keepers.find(key) === data.keeper;
  return mayGoOn
    ? { sessionId, where: isFar ? 'far' : 'here', step, lines: { line, open }, turns, terminals }
    : undefined;
}

function isOpen(turn: KeptTurns['turn'], state: Readonly<SessionState>): boolean {
  return turn !== undefined && turn.ended === undefined && state.turn?.id === turn.id;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

export interface KeptProgressOptions {
  readonly turns: () => TurnControl;
  /** Undefined while no agent runs. */
  readonly link: () => AgentLink | undefined;
  readonly sessionId: () => string | undefined;
  /** The agent is on another machine, and can be asked what became of its turn. */
  readonly isFar: () => boolean;
  readonly state: () => Readonly<SessionState>;
  /** Returns how many characters were heard of commands that outlive this window, by terminal. */
  readonly terminals: () => Readonly<Record<string, number>>;
}

export class KeptProgress {
  readonly #options: KeptProgressOptions;
  #lease = '';
  #step: number;

  /** @param step that an earlier window has reached */
  constructor(options: KeptProgressOptions, step = 0) {
    this.#options = options;
    this.#step = step;
  }

  /** How far the agent was heard now; undefined where it ends with the window. */
  readonly read = (): ReadProgress | undefined => {
    const link = this.#options.link();
    const { kept, rpc } = link ?? {};
    if (this.#options.isFar()) return this.#far();
    if (!kept || !rpc) return undefined;
    const { requestIds, state: turnState } = this.#options.turns().driver;
    const lines = rpc.progress(new Set(requestIds.values()));
    const turns = keptTurns(turnState);
    const settled = kept.settled(new Set(turns.prompts.flatMap((one) => (one.awaited ? [one.promptId] : []))));
    this.tellLease();
    const step = ++this.#step;
    return {
      json: JSON.stringify({
        keeper: kept.agent.id,
        sessionId: kept.sessionId,
        step,
        ...lines,
        turns,
        terminals: this.#options.terminals(),
      }),
      holdBack: (events) => kept.holdBack(step, events),
      stored: () => {
        kept.stored(step, settled);
        kept.agent.stored(lines);
      },
    };
  };

  /** What the agent says is repeated when the session is loaded. */
  #far(): ReadProgress {
    const { sessionId, turns } = this.#options;
    const kept = {
      keeper: FAR,
      sessionId: sessionId(),
      step: 0,
      line: 0,
      open: [],
      turns: keptTurns(turns().driver.state),
    };
    return { json: JSON.stringify(kept), holdBack() {}, stored() {} };
  }

  /** The session is open: from here on another window can go on with it. */
  opened(): void {
    const { kept } = this.#options.link() ?? {};
    this.#lease = '';
    kept?.promptsFrom(() => {
      this.tellLease();
      return this.#options.turns().driver.requestIds;
    });
    this.tellLease();
  }

  /** Tells the keeper what the agent is at, where that has changed. */
  tellLease(): void {
    const { link, sessionId, state, turns } = this.#options;
    const { kept, description } = link() ?? {};
    const id = sessionId();
    if (!kept || id === undefined) return;
    const { agentState = 'idle', background, turn } = state();
    const endMarks = [...turns().driver.requestIds.values()].map(Number);
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
