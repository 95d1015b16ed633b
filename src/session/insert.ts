// Room in the middle of a transcript: all that names a place behind it moves.
import type { ModelContext } from './model';

/** Makes everything that names a place from `from` on name the one `by` further on. The entries themselves are the caller's to put in. */
export function shift(context: ModelContext, from: number, by: number): void {
  move(context, (index) => (index >= from ? index + by : index));
}

/** As {@link shift}, with room in several places. @param moved where an entry stands from now on */
export function move(context: ModelContext, moved: (index: number) => number): void {
  for (const entry of context.state.entries) entry.index = moved(entry.index);
  for (const map of [context.messages, context.tools, context.plans, context.gaps, context.compactions])
    for (const [key, index] of map) map.set(key, moved(index));
  for (const echo of new Set([...context.prompts.values(), ...(context.echo ? [context.echo] : [])]))
    echo.index = moved(echo.index);
  for (const subagent of context.subagents.byId.values()) subagent.index = moved(subagent.index);
  for (const places of [context.openTools, ...context.terminalShownIn.values()]) {
    const indexes = [...places].map(moved);
    places.clear();
    for (const index of indexes) places.add(index);
  }
}
