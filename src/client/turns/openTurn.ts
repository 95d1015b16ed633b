// An open turn, and the prompts that are part of it or wait for one, as turnTracker.ts knows them.
import type { StateReport } from '../../acp/protocol/dialect';
import type { Deferred } from '../../base/deferred';
import type { ContentBlock } from '../../session/events/content';
import type { StopReason } from '../../session/events/event';
import type { Grace } from '../ports/grace';
import type { WaitingPrompt } from './promptEcho';

export interface TurnResult {
  readonly turnId: string;
  readonly stopReason: StopReason;
}

/** How a prompt goes to an agent. */
export interface PromptTerms {
  readonly promptId: string;
  readonly content: readonly ContentBlock[];
  /** The text that goes to the agent, where that is more than the content. */
  readonly echo?: string;
  /** What ends its turn: the answer to it, or the agent's own state. */
  readonly endsBy: 'response' | 'state';
  /** The agent advertises turn_complete. */
  readonly promised: boolean;
}

export interface OpenTurn {
  readonly id: string;
  endsBy: 'response' | 'state';
  promised: boolean;
  readonly prompts: Set<Prompt>;
  /** The agent said that it runs. */
  busySeen: boolean;
  /** An idle that could not be its end when it came. */
  idle?: StateReport | undefined;
  /** That idle came before the agent repeated the prompt: it may be the end of something else. */
  idleIsDoubtful?: boolean;
  ended?: StopReason;
  barrierSeen: boolean;
  answered?: { stopReason: StopReason; tokens?: number };
  cancelRequested: boolean;
  /** It goes on since another connection: its prompts get no answers, and their ids mean nothing now. */
  isRejoined?: true;
  /** What it waits for before it is over, or before the next prompt may go. */
  grace?: Grace;
  /**
   * The prompt whose answer names no reason: a receipt where a state or its echo follows, else the
   * end.
   */
  unclear?: Prompt | undefined;
}

export interface Prompt extends WaitingPrompt {
  readonly handle: string;
  readonly terms: PromptTerms;
  requestId?: string;
  messageId?: string | undefined;
  turn: OpenTurn | undefined;
  inserted: boolean;
  cancelRequested: boolean;
  readonly done: Deferred<TurnResult | undefined>;
}

/** A prompt whose answer is all there is. */
export const PLAIN_TERMS: PromptTerms = { promptId: '', content: [], endsBy: 'response', promised: false };

/**
 * Returns whether an idle is the end of a turn, and not a repetition of what is known or the end of
 * something else.
 */
export function mayEnd({ endsBy, prompts, busySeen }: OpenTurn, { stopReason, error }: StateReport): boolean {
  if (endsBy === 'response') return false;
  if (prompts.size === 0) return busySeen;
  return [...prompts].some(({ inserted }) => inserted) && (busySeen || stopReason !== undefined || error !== undefined);
}

/** The JSON-RPC ids of a turn's prompts. */
export function requestIds({ prompts }: OpenTurn): string[] {
  return [...prompts].flatMap(({ requestId }) => (requestId === undefined ? [] : [requestId]));
}
