// Makes a permission rule of an open request, after a dialog that shows what the rule would have
// allowed so far.
import { l10n } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import type { PermissionRule } from '../../client/rules/permissionRule';
import { addRule } from '../config/permissionSettings';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { askModal } from '../ui/messages';
import { pastOf, type RulePast } from './rulePast';

const MAX_EXAMPLES = 3;

/**
 * Saves the rule that a request offers, and allows the request once.
 * @returns false if the request is gone
 */
export async function saveRule(workbench: Workbench, conversation: Conversation, id: string): Promise<boolean> {
  const offer = conversation.model.state.permissions.get(id)?.ruleOffer;
  if (!offer) return false;
  const rule: PermissionRule = { ...offer, action: 'allow', since: new Date().toISOString().slice(0, 10) };
  const past = await pastOf(rule, workbench.get(Conversations).list(), workbench.get(Archive));
  const save = l10n.t('Save Rule');
  if ((await askModal(questionOf(rule), detailOf(rule, past), [save])) !== save) return true;
  // It may have been answered; the rule is saved anyway.
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

function detailOf({ kind, folder = '' }: PermissionRule, { asked, allowed }: RulePast): string {
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
  return [means, '', recordOf(asked, allowed.length), ...examples.map((one) => `• ${one}`)].join('\n');
}

function recordOf(asked: number, allowed: number): string {
  if (asked === 0) return l10n.t('No earlier requests are known.');
  if (asked > 1) return l10n.t('The rule would have allowed {0} of your last {1} requests.', allowed, asked);
  return allowed === 1
    ? l10n.t('The rule would have allowed your only earlier request.')
    : l10n.t("The rule wouldn't have allowed your only earlier request.");
}
