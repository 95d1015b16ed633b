// The stream of v2 session updates, in order: events for the model, the agent's state, and the barriers between turns.

import { applyLifecycle } from '../proposals/promptLifecycle';
import type { UpdateTargets } from '../protocol/dialect';
import { readTextRun } from '../protocol/textRuns';
import { readUpdate } from './v2Events';
import type { V2Terminals } from './v2Terminals';

/** Applies the `update`s of `session/update` notifications in arrival order. Never throws for what an agent sends. */
export function applyUpdates(updates: readonly unknown[], terminals: V2Terminals, targets: UpdateTargets): void {
  for (let index = 0; index < updates.length; index++) {
    const next = readTextRun(updates, index, targets.emit);
    if (next > index) index = next - 1;
    else applyUpdate(updates[index], terminals, targets);
  }
}

function applyUpdate(update: unknown, terminals: V2Terminals, targets: UpdateTargets): void {
  if (applyLifecycle(update, targets)) return;
  const terminal = terminals.read(update);
  if (terminal) {
    targets.emit(terminal);
    return;
  }
  const problem = readUpdate(update, targets.emit);
  if (problem !== undefined) targets.log.warn(problem);
}
