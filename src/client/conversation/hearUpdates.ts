// Reads the updates of a session: what they say about turns goes to the engine, all else into the
// transcript.
import type { Dialect, StateReport } from '../../acp/protocol/dialect';
import type { Log } from '../../base/log';
import type { SessionEvent } from '../../session/events/event';
import type { PastUpdates } from '../connection/sessionReplay';
import type { SentPrompt, TurnDriver } from '../prompts/turnDriver';

export interface Hearing<Sent extends SentPrompt> {
  readonly dialect: Dialect;
  readonly driver: TurnDriver<Sent>;
  readonly apply: (event: SessionEvent) => void;
  readonly onState: (report: StateReport) => void;
  /** Called with each event after it was applied. */
  readonly onApplied: (event: SessionEvent) => void;
  readonly log: Log;
}

/** @param past they repeat what was */
export function hearUpdates<Sent extends SentPrompt>(
  updates: readonly unknown[],
  past: PastUpdates | undefined,
  { dialect, driver, apply, onState, onApplied, log }: Hearing<Sent>,
): void {
  dialect.readUpdates(updates, {
    emit: (event) => {
      for (const said of past?.asSaid(event) ?? [event]) {
        if (!driver.hear(said)) apply(said);
        onApplied(said);
      }
    },
    onTurnComplete: past?.onTurnComplete ?? ((barrier) => void driver.feed({ type: 'complete', barrier })),
    onState: past?.onState ?? onState,
    log,
  });
}
