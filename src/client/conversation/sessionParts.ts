// Builds the judge of permission requests and the recorder of file changes from a conversation's
// services.
import type { AgentDefinition } from '../../agents/agentDefinition';
import { messageOf, type ParleyError } from '../../base/errors';
import type { SessionModel } from '../../session/model/model';
import { SessionChanges } from '../changes/sessionChanges';
import type { JudgePermission } from '../requests/permissionRequestHandler';
import { judge } from '../rules/judge';
import type { ConversationServices } from './conversationOptions';
import type { Recorder } from './recorder';

interface BuiltConversation {
  readonly key: string;
  readonly agent: AgentDefinition;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  readonly recorder: Recorder;
  readonly readOnly: ParleyError | undefined;
}

/** Returns a function that applies the rules to permission requests; undefined without rules. */
export function judgeFor(conversation: BuiltConversation): JudgePermission | undefined {
  const { services, cwd, roots } = conversation;
  const { permissionRules, log } = services;
  if (!permissionRules) return undefined;
  return async (asked) => {
    try {
      return await judge(asked, permissionRules(), { cwd, roots, agentId: conversation.agent.id });
    } catch (error) {
      log.warn(`permission rules: ${messageOf(error)}`);
      return {};
    }
  };
}

export function changesOfSession(conversation: BuiltConversation, model: SessionModel): SessionChanges {
  const { key, roots, cwd, services } = conversation;
  return new SessionChanges({
    key,
    roots,
    cwd,
    model,
    services: services.changes,
    isOurs: () => conversation.readOnly === undefined,
    isAtWorkHere: () => services.isTrusted() && isLocal(conversation.agent),
    outlivesWindow: () => services.keepers?.isOn === true,
    apply: (event) => conversation.recorder.apply(event),
    onChange: (turnId) => (turnId === undefined ? model.touch('review') : model.touchTurn(turnId)),
    onWritten: (toolCallId) => model.touchTool(toolCallId),
    now: services.clock.now,
    log: services.log,
  });
}

/** A remote agent changes files here only through allowed requests. */
function isLocal(agent: AgentDefinition): boolean {
  switch (agent.type) {
    case 'process':
      return true;
    case 'remote':
      return agent.allow.files || agent.allow.terminals;
    case 'communication':
      return false;
  }
}
