// A session's state for lists and tabs.
import type { Conversation } from '../conversation/conversation';
import { waitsForAnswer } from './projectRequests';
import { phaseOf } from './projectSession';

export type SessionStatus = 'needsYou' | 'working' | 'failed' | 'ready' | 'otherWindow' | 'ended';

export function sessionStatusOf(conversation: Conversation): SessionStatus {
  const { connection, model, queue } = conversation;
  if (connection.kind === 'failed' && connection.error.code === 'session-held') return 'otherWindow';
  if (connection.kind === 'failed' && connection.error.code === 'recording') return 'ended';
  if (needsUser(conversation)) return 'needsYou';
  switch (phaseOf(conversation)) {
    case 'running':
    case 'unresponsive':
    case 'recovering':
      return 'working';
    case 'starting':
    case 'initializing':
      if (queue.items.length > 0 || model.state.turn) return 'working';
      break;
    case 'failed':
    case 'exited':
      return 'failed';
    case 'idle':
      return conversation.isSuspended ? 'ready' : 'ended';
  }
  return conversation.failedTurnId !== undefined && model.state.turn === undefined ? 'failed' : 'ready';
}

export function needsUser(conversation: Conversation): boolean {
  const { state } = conversation.model;
  if (state.permissions.size > 0 || waitsForAnswer(state)) return true;
  const phase = phaseOf(conversation);
  return phase === 'requiresAction' || phase === 'authRequired' || conversation.waitsForUser;
}

export function worksByItself(conversation: Conversation): boolean {
  return conversation.isWorking && !conversation.ignoresStop && !needsUser(conversation);
}

export function changedFilesOf({ model, changes }: Conversation): number {
  const paths = new Set<string>();
  for (const { files } of model.state.turns) for (const path of files) paths.add(path);
  return Math.max(paths.size, changes.review?.files.length ?? 0);
}

/** When the last turn began or ended, ms since 1970. */
export function usedAt({ model }: Conversation): number | undefined {
  const last = model.state.turns.at(-1);
  return last && (last.endedAt ?? last.startedAt);
}
