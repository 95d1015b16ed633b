// Reads events of a run leniently: an event that does not fit becomes one that says so, in its
// place in the order, instead of ending the run.

import * as z from 'zod/mini';
import { messageOf } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { type RunEvent, readEvent } from '../model/model';

const terminalSchema = z.looseObject({
  type: z.enum(['run.completed', 'run.failed', 'run.cancelled', 'run.awaiting']),
});

/**
 * Reads one event, never throws. A bad event counts as unknown, so that positions stay the same;
 * one that should end the run becomes an `error`.
 */
export function readStreamedEvent(value: unknown, log: Log): RunEvent {
  try {
    return readEvent(value);
  } catch (error) {
    log.warn(`An event of a run is not understood: ${messageOf(error)}`);
    const terminal = z.safeParse(terminalSchema, value).data;
    if (terminal === undefined) return { type: 'unknown', name: 'invalid', raw: undefined };
    return {
      type: 'error',
      error: {
        code: 'invalid_data',
        message: localizable('The agent server ended the run with an invalid "{0}" event.', terminal.type),
      },
    };
  }
}
