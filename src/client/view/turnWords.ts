// Describes a turn: who began it, and how its end was detected.
import * as l10n from '@vscode/l10n';
import type { Barrier, StopReason } from '../../session/events/event';
import type { Turn } from '../../session/model/state';
import { turnNoteText } from './ownTexts';

/** Undefined for the user of this client. */
export function starterText({ origin, elsewhere }: Pick<Turn, 'origin' | 'elsewhere'>): string | undefined {
  if (elsewhere) return l10n.t('started by another client');
  return origin === 'agent' ? l10n.t('started by agent') : undefined;
}

/** Undefined if unknown, or the note says it. @param note whether the end has one */
export function barrierText(barrier: Barrier | undefined, stopReason: StopReason, note: boolean): string | undefined {
  return barrier && BARRIERS[barrier](stopReason === 'error', note);
}

const BARRIERS: Readonly<Record<Barrier, (isError: boolean, hasNote: boolean) => string | undefined>> = {
  turn_complete: () => l10n.t('agent sent turn_complete'),
  state: () => l10n.t('agent became idle'),
  response: (isError) => (isError ? l10n.t('agent returned an error') : l10n.t('agent answered')),
  timeout: () => l10n.t('timed out'),
  exit: (_isError, hasNote) => (hasNote ? undefined : l10n.t('agent ended')),
};

export interface TurnLineFacts extends Pick<Turn, 'origin' | 'elsewhere'> {
  readonly number: number;
  readonly stopReason: StopReason;
  readonly barrier?: Barrier | undefined;
  readonly isInterrupted: boolean;
  readonly note?: string | undefined;
}

export function turnLine(facts: TurnLineFacts): string {
  const { barrier, stopReason, note } = facts;
  const reason = REASONS[stopReason](facts.number, facts.isInterrupted);
  const parts = [reason, starterText(facts), barrierText(barrier, stopReason, note !== undefined), note];
  return parts.filter((part) => part !== undefined).join(' · ');
}

/** Undefined if the turn is running, or its end is unknown. */
export function lineOfTurn(turn: Readonly<Turn>): string | undefined {
  const { stopReason, note, interrupted, ...facts } = turn;
  if (stopReason === undefined) return undefined;
  return turnLine({
    ...facts,
    stopReason,
    isInterrupted: interrupted === true,
    note: note !== undefined ? turnNoteText(note) : undefined,
  });
}

const REASONS: Readonly<Record<StopReason, (number: number, isInterrupted: boolean) => string>> = {
  end_turn: (number) => l10n.t('Turn {0} ended', number),
  cancelled: (number) => l10n.t('Turn {0} stopped by you', number),
  refusal: (number) => l10n.t('Turn {0} refused by agent', number),
  max_tokens: (number) => l10n.t('Turn {0} stopped: length limit reached', number),
  max_turn_requests: (number) => l10n.t('Turn {0} stopped: request limit reached', number),
  error: (number, isInterrupted) =>
    isInterrupted ? l10n.t('Turn {0} interrupted', number) : l10n.t('Turn {0} failed', number),
  unknown: (number) => l10n.t('Turn {0} ended: reason unknown', number),
};
