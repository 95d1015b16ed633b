// Projects forms, pages and background work for the webview.

import { head } from '../../base/text';
import type { BackgroundView, ElicitationView } from '../../panel/contract';
import type { SessionState } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { isStoppable } from './projectItem';

const MAX_WORK = 50;
const MAX_LABEL = 200;

/** Returns whether a form or a page waits for the user; a page that is open waits for the agent. */
export function waitsForAnswer({ elicitations }: Readonly<SessionState>): boolean {
  for (const { opened } of elicitations.values()) if (!opened) return true;
  return false;
}

export function elicitationsOf({ model }: Conversation): ElicitationView[] {
  return [...model.state.elicitations.values()].map(({ at: _at, toolCallId, ...asked }) => {
    const entry = model.state.entries[(toolCallId === undefined ? undefined : model.toolIndex(toolCallId)) ?? -1];
    return { ...asked, tool: entry?.kind === 'tool' && entry.title ? head(entry.title, MAX_LABEL) : undefined };
  });
}

export function backgroundOf({ model }: Conversation): BackgroundView[] {
  const { background, entries, terminals } = model.state;
  return background.slice(0, MAX_WORK).map(({ type: kind, id }) => {
    if (kind === 'terminal') {
      const terminal = terminals.get(id);
      const stoppable = terminal?.canCancel && !terminal.exit;
      return { kind, id, label: head(terminal?.command ?? id, MAX_LABEL), stop: stoppable ? 'terminal' : undefined };
    }
    const entry =
      kind === 'subagent'
        ? entries.find((one) => one.kind === 'tool' && one.subagentId === id)
        : entries[model.toolIndex(id) ?? -1];
    if (entry?.kind !== 'tool') return { kind, id, label: head(id, MAX_LABEL) };
    const stop = kind === 'subagent' ? 'subagent' : 'tool';
    return { kind, id, label: head(entry.title || id, MAX_LABEL), stop: isStoppable(entry) ? stop : undefined };
  });
}
