// What a turn tracker knows that the transcript does not say, so that another window can go on with
// the same agent: kept with the events, read back by its shape only.
import * as z from 'zod/mini';
import type { StateReport } from '../../acp/protocol/dialect';
import type { OpenTurn, Prompt } from './openTurn';

const stopReasons = [
  'end_turn',
  'cancelled',
  'refusal',
  'max_tokens',
  'max_turn_requests',
  'error',
  'unknown',
] as const;
const endsBy = z.enum(['response', 'state']);

const promptSchema = z.object({
  handle: z.string(),
  promptId: z.string(),
  endsBy,
  promised: z.boolean(),
  messageId: z.optional(z.string()),
  /** The JSON-RPC id with which it has left. */
  requestId: z.optional(z.string()),
  inTurn: z.boolean(),
  /** Its answer is still to come, or still counts. */
  awaited: z.boolean(),
  inserted: z.boolean(),
  cancelRequested: z.boolean(),
});

const reportSchema = z.custom<StateReport>((value) => typeof (value as StateReport | undefined)?.state === 'string');

export const trackedTurnsSchema = z.object({
  agentState: z.optional(z.string()),
  followers: z.number(),
  turn: z.optional(
    z.object({
      id: z.string(),
      endsBy,
      promised: z.boolean(),
      busySeen: z.boolean(),
      barrierSeen: z.boolean(),
      cancelRequested: z.boolean(),
      ended: z.optional(z.enum(stopReasons)),
      idle: z.optional(reportSchema),
      idleIsDoubtful: z.optional(z.boolean()),
    }),
  ),
  prompts: z.array(promptSchema),
});

export type TrackedTurns = z.infer<typeof trackedTurnsSchema>;
export type TrackedPrompt = z.infer<typeof promptSchema>;

/** What of a tracker is neither its open turn nor its prompts. */
interface TrackerFacts {
  readonly followers: number;
  readonly agentState: string | undefined;
  readonly awaits: (prompt: Prompt) => boolean;
}

/**
 * Returns what another window needs to go on with the same agent.
 * @param turn that is open
 * @param waiting prompts without an answer
 */
export function trackedOf(
  turn: OpenTurn | undefined,
  waiting: readonly Prompt[],
  { followers, agentState, awaits }: TrackerFacts,
): TrackedTurns {
  const all = new Set([...(turn?.prompts ?? []), ...waiting]);
  return {
    followers,
    ...(agentState !== undefined && { agentState }),
    ...(turn && {
      turn: {
        id: turn.id,
        endsBy: turn.endsBy,
        promised: turn.promised,
        busySeen: turn.busySeen,
        barrierSeen: turn.barrierSeen,
        cancelRequested: turn.cancelRequested,
        ...(turn.ended !== undefined && { ended: turn.ended }),
        ...(turn.idle && { idle: turn.idle }),
        ...(turn.idleIsDoubtful && { idleIsDoubtful: true }),
      },
    }),
    prompts: [...all].map((prompt) => ({
      handle: prompt.handle,
      promptId: prompt.terms.promptId,
      endsBy: prompt.terms.endsBy,
      promised: prompt.terms.promised,
      ...(prompt.messageId !== undefined && { messageId: prompt.messageId }),
      ...(prompt.requestId !== undefined && { requestId: prompt.requestId }),
      inTurn: prompt.turn !== undefined,
      awaited: awaits(prompt),
      inserted: prompt.inserted,
      cancelRequested: prompt.cancelRequested,
    })),
  };
}
