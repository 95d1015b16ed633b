// The stream of v1 session updates, in order: events for the model, and the barriers between turns.

import { applyLifecycle } from '../proposals/promptLifecycle';
import type { UpdateTargets } from '../protocol/dialect';
import { readTextRun } from '../protocol/textRuns';
import { readUpdate } from './v1Events';

/** Applies the `update`s of `session/update` notifications in arrival order. Never throws for what an agent sends. */
export function applyUpdates(updates: readonly unknown[], targets: UpdateTargets): void {
  for (let index = 0; index < updates.length; index++) {
    const next = readTextRun(updates, index, targets.emit);
    if (next > index) {
      index = next - 1;
      continue;
    }
    const update = updates[index];
    if (applyLifecycle(update, targets)) continue;
    const problem = readUpdate(update, targets.emit);
    if (problem !== undefined) targets.log.warn(problem);
  }
}
