// The stream of v1 session updates, in order: events for the model, and the barriers between turns.
import type { UpdateTargets } from './dialect';
import { readTextRun } from './textRuns';
import { readTurnComplete } from './turnComplete';
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
    switch ((update as { readonly sessionUpdate?: unknown }).sessionUpdate) {
      case 'turn_complete': {
        const barrier = readTurnComplete(update);
        if (barrier) targets.onTurnComplete(barrier);
        break;
      }
      // States are v2's; a v1 agent that sends them still ends its turns by answering the prompt.
      case 'state_update':
      case 'state_change':
        targets.log.debug('a state update of a v1 agent was left out');
        break;
      default: {
        const problem = readUpdate(update, targets.emit);
        if (problem !== undefined) targets.log.warn(problem);
      }
    }
  }
}
