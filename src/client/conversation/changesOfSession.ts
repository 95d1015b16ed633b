// Connects the record of what a session changes on disk with its conversation.
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { SessionModel } from '../../session/model/model';
import { SessionChanges } from '../changes/sessionChanges';
import type { ConversationOptions } from './conversationOptions';
import type { Recorder } from './recorder';

/**
 * Records what the turns of a conversation change.
 * @param isOurs returns whether the session is not another window's
 */
export function changesOfSession(
  { key, roots, cwd, services }: ConversationOptions,
  model: SessionModel,
  recorder: () => Recorder,
  agent: () => AgentDefinition,
  isOurs: () => boolean,
): SessionChanges {
  return new SessionChanges({
    key,
    roots,
    cwd,
    model,
    services: services.changes,
    isOurs,
    isAtWorkHere: () => services.isTrusted() && worksHere(agent()),
    outlivesWindow: () => services.keepers?.isOn === true,
    apply: (event) => recorder().apply(event),
    onChange: (turnId) => (turnId === undefined ? model.touch('review') : model.touchTurn(turnId)),
    onWritten: (toolCallId) => model.touchTool(toolCallId),
    now: services.clock.now,
    log: services.log,
  });
}

/** An agent of another machine changes something here only through what it is allowed. */
function worksHere(agent: AgentDefinition): boolean {
  switch (agent.type) {
    case 'process':
      return true;
    case 'remote':
      return agent.allow.files || agent.allow.terminals;
    case 'communication':
      return false;
  }
}
