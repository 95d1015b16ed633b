// List rows of the user's standing permissions and rejections.
import { l10n } from 'vscode';
import { FolderConsent } from '../config/folderConsent';
import { McpServers } from '../config/mcpServers';
import type { RememberedAnswer, RememberedAnswers } from '../config/rememberedAnswers';
import type { Workbench } from '../core/workbench';
import { agoLabel } from '../sessions/sessionLabels';
import { AllowedOrigins } from '../sharing/allowedOrigins';
import type { ChoiceRow } from '../ui/input';
import { confirm } from '../ui/messages';

export interface Approvals {
  readonly workspace: RememberedAnswers;
  readonly servers: RememberedAnswers;
  readonly mcp: Pick<McpServers, 'hasAnswers' | 'reset'>;
}

export function approvalsOf(workbench: Workbench): Approvals {
  return {
    workspace: workbench.get(FolderConsent),
    servers: workbench.get(AllowedOrigins),
    mcp: workbench.get(McpServers),
  };
}

export function approvalRows({ workspace, servers, mcp }: Approvals, now: number): readonly ChoiceRow[] {
  return [
    ...section(l10n.t('Agents and MCP servers of this workspace'), workspace, now),
    ...section(l10n.t('Servers with session messages'), servers, now),
    ...(mcp.hasAnswers ? [resetRow(mcp)] : []),
  ];
}

function resetRow(mcp: Approvals['mcp']): ChoiceRow {
  return {
    id: 'reset',
    label: l10n.t('Reset Approvals of This Workspace'),
    icon: 'discard',
    description: l10n.t('also the values that you entered for MCP servers'),
    choose: async () => {
      if (await confirm(l10n.t('Reset the approvals of this workspace?'), willAsk(), l10n.t('Reset')))
        await mcp.reset();
    },
  };
}

function willAsk(): string {
  return l10n.t('Parley will ask again next time. Anything already running continues.');
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
      if (await confirm(l10n.t('Remove the answer about “{0}”?', subject), willAsk(), l10n.t('Remove'))) await remove();
    },
  };
}
