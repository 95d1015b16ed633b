// What becomes of a turn whose connection was lost: what the agent says of it, the newest first.
import { isIdle } from '../../acp/proposals/promptLifecycle';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { Cut } from './turnState';

type TurnFate =
  | { readonly kind: 'runs'; readonly report: StateReport }
  | { readonly kind: 'ended'; readonly report: StateReport }
  | { readonly kind: 'complete'; readonly barrier: TurnComplete }
  | { readonly kind: 'unsaid' }
  | { readonly kind: 'lost' };

/**
 * @param hasArrived whether the agent has the prompts; undefined: not known. An idle agent without
 * them has not ended the turn
 */
export function fateOf(cut: Cut, { answer, state }: SessionStatus, hasArrived: boolean | undefined): TurnFate {
  const report = cut.state ?? state ?? cut.before;
  if (cut.complete && (hasArrived === true || cut.complete.promptRequestId !== undefined))
    return { kind: 'complete', barrier: cut.complete };
  if (answer !== 'live') return { kind: 'lost' };
  if (report && !isIdle(report)) return { kind: 'runs', report };
  if (report) return hasArrived === true ? { kind: 'ended', report } : { kind: 'lost' };
  return hasArrived === false ? { kind: 'lost' } : { kind: 'unsaid' };
}
