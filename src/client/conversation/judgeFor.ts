// Judges the permission requests of a session by the rules that count when it asks.
import { messageOf } from '../../base/errors';
import type { JudgePermission } from '../requests/judgement';
import { judge } from '../rules/judge';
import type { ConversationOptions } from './conversationOptions';

/** Returns undefined where no rules are read: then each request is asked. */
export function judgeFor(
  { services, cwd, roots }: ConversationOptions,
  agentId: () => string,
): JudgePermission | undefined {
  const { permissionRules, log } = services;
  if (!permissionRules) return undefined;
  return async (asked) => {
    try {
      return await judge(asked, permissionRules(), { cwd, roots, agentId: agentId() });
    } catch (error) {
      log.warn(`permission rules: ${messageOf(error)}`);
      return {};
    }
  };
}
