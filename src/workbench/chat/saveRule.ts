// Makes a permission rule of an open request, after a dialog that shows what the rule would have
// allowed so far.
import { l10n } from 'vscode';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { type JudgedSession, wouldAllow } from '../../client/rules/judge';
import type { PermissionRule } from '../../client/rules/permissionRule';
import type { ToolEntry } from '../../session/model/state';
import { addRule } from '../config/permissionSettings';
import { askModal } from '../ui/messages';

/** Requests that a new rule is held against. */
const MAX_PAST = 50;
const MAX_EXAMPLES = 3;
const MAX_EXAMPLE = 120;

/**
 * Saves the rule that a request offers, and allows the request once.
 * @param sessions those of this window, the one that asks among them
 * @returns false where the request is gone
 */
export async function saveRule(
  conversation: Conversation,
  id: string,
  sessions: readonly Conversation[],
): Promise<boolean> {
  const offer = conversation.model.state.permissions.get(id)?.ruleOffer;
  if (!offer) return false;
  const rule: PermissionRule = { ...offer, action: 'allow' };
  const past = await pastOf(rule, sessions);
  const save = l10n.t('Save Rule');
  if ((await askModal(questionOf(rule), detailOf(rule, past), [save])) !== save) return true;
  // It may have been answered meanwhile: the rule is saved all the same.
  const asked = conversation.model.state.permissions.get(id);
  await addRule(rule);
  const once = asked?.options.find(({ kind }) => kind === 'allow_once');
  if (once) conversation.answerPermission(id, once.optionId);
  return asked !== undefined;
}

function questionOf({ kind, pattern = '' }: PermissionRule): string {
  if (kind === 'execute') return l10n.t('Always allow agents to run “{0}”?', pattern);
  return kind === 'edit'
    ? l10n.t('Always allow agents to edit “{0}”?', pattern)
    : l10n.t('Always allow agents to read “{0}”?', pattern);
}

interface Past {
  readonly asked: number;
  /** What the rule would have allowed, newest first. */
  readonly allowed: readonly string[];
}

function detailOf({ kind, folder = '' }: PermissionRule, { asked, allowed }: Past): string {
  const examples = [...new Set(allowed)].slice(0, MAX_EXAMPLES);
  const means =
    kind === 'execute'
      ? l10n.t(
          'Exactly this command, in {0}. The command runs whatever its scripts contain, also what agents write.',
          folder,
        )
      : l10n.t(
          'In {0}. Files that can start programs, such as those in .git and .vscode, are always asked about.',
          folder,
        );
  const record =
    asked === 0
      ? l10n.t('No earlier requests in open sessions.')
      : l10n.t('The rule would have allowed {0} of the last {1} requests in open sessions.', allowed.length, asked);
  return [means, '', record, ...examples.map((one) => `• ${one}`)].join('\n');
}

/** Holds a rule against the latest requests of all open sessions. */
async function pastOf(rule: PermissionRule, sessions: readonly Conversation[]): Promise<Past> {
  const tools = sessions.flatMap((conversation) =>
    conversation.model.state.entries.flatMap((entry) =>
      entry.kind === 'tool' && entry.decision ? [{ entry, conversation }] : [],
    ),
  );
  const latest = tools.sort((a, b) => b.entry.at - a.entry.at).slice(0, MAX_PAST);
  const allowed: string[] = [];
  for (const { entry, conversation } of latest) {
    const { cwd, roots, agent } = conversation;
    const session: JudgedSession = { cwd, roots, agentId: agent.id };
    if (await wouldAllow(rule, requestOf(entry), session)) allowed.push(oneLine(entry.title, MAX_EXAMPLE));
  }
  return { asked: latest.length, allowed };
}

/** Returns a call as the request that asked for it. */
function requestOf({ toolCallId, title, toolKind, content, locations, rawInput }: ToolEntry): PermissionAsk {
  return { toolCallId, title, options: [], patch: { kind: toolKind, content, locations, rawInput } };
}
