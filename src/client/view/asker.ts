// Names the subagent that asks for a permission, as several can work at once.
import { oneLine } from '../../base/text';
import type { SessionView } from '../../session/model/model';
import type { Permission } from '../../session/model/state';

const MAX_TITLE = 200;

/** Returns the title of the call that started the subagent; undefined where the agent itself asks. */
export function askerOf(
  model: Pick<SessionView, 'state' | 'toolIndex'>,
  { toolCallId }: Pick<Permission, 'toolCallId'>,
): string | undefined {
  const entry = model.state.entries[(toolCallId === undefined ? undefined : model.toolIndex(toolCallId)) ?? -1];
  const parent = entry && model.state.nests.parentOf(entry);
  return parent && oneLine(parent.title || parent.name || parent.toolCallId, MAX_TITLE);
}
