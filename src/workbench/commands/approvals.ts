// The list of what the user has allowed or refused until further notice, to look at and to remove.
import { l10n } from 'vscode';
import { FolderConsent } from '../config/folderConsent';
import type { RememberedAnswer, RememberedAnswers } from '../config/rememberedAnswers';
import type { Workbench } from '../core/workbench';
import { agoLabel } from '../sessions/sessionLabels';
import { AllowedOrigins } from '../sharing/allowedOrigins';
import { type ChoiceRow, choiceFrom, List } from '../ui/input';
import { confirm } from '../ui/messages';

export interface Approvals {
  readonly workspace: RememberedAnswers;
  readonly servers: RememberedAnswers;
}

export async function manageApprovals(workbench: Workbench): Promise<void> {
  const approvals = { workspace: workbench.get(FolderConsent), servers: workbench.get(AllowedOrigins) };
  for (;;) {
    const list = new List<ChoiceRow>(l10n.t('Select an approval to remove it'), l10n.t('Approvals'));
    list.draw(rowsOf(approvals, Date.now()), []);
    const chosen = await choiceFrom(list);
    if (!chosen) return;
    await chosen();
  }
}

export function rowsOf({ workspace, servers }: Approvals, now: number): readonly ChoiceRow[] {
  const rows = [
    ...section(l10n.t('Agents and MCP servers of this workspace'), workspace, now),
    ...section(l10n.t('Servers with session messages'), servers, now),
  ];
  const none = { id: 'none', label: l10n.t('No approvals are saved.') };
  const agents = {
    id: 'agents',
    label: l10n.t('Agents keep their own “Always allow” answers.'),
    icon: 'info',
    alwaysShow: true,
  };
  return [...(rows.length > 0 ? rows : [none]), agents];
}

function section(title: string, answers: RememberedAnswers, now: number): ChoiceRow[] {
  const rows = answers.list().map((answer) => rowOf(answer, answers, now));
  return rows.length > 0 ? [{ label: title, separates: true }, ...rows] : [];
}

function rowOf(answer: RememberedAnswer, answers: RememberedAnswers, now: number): ChoiceRow {
  const { id, isAllowed, answeredAt, usedAt } = answer;
  const subject = answer.subject ?? l10n.t('Answer of an earlier version');
  const times = [
    answeredAt === undefined ? undefined : l10n.t('Answered: {0}', agoLabel(answeredAt, now)),
    usedAt === undefined ? undefined : l10n.t('Last used: {0}', agoLabel(usedAt, now)),
  ];
  const remove = (): Promise<void> => answers.remove(id);
  return {
    id,
    label: subject,
    icon: isAllowed ? 'check' : 'circle-slash',
    description: isAllowed ? l10n.t('Allowed') : l10n.t('Not allowed'),
    detail: times.filter((time) => time !== undefined).join(' · ') || undefined,
    buttons: [{ icon: 'trash', tooltip: l10n.t('Remove'), run: remove }],
    choose: async () => {
      const detail = l10n.t('Parley will ask again next time. Anything already running continues.');
      if (await confirm(l10n.t('Remove the answer about “{0}”?', subject), detail, l10n.t('Remove'))) await remove();
    },
  };
}
