// Lists permission rules and approvals, including those that agents remember, to edit and remove.
import { l10n } from 'vscode';
import { messageOf } from '../../base/errors';
import { formatTime } from '../../base/localFormat';
import { oneLine } from '../../base/text';
import { type KeptAnswer, keptAnswers } from '../../client/rules/pastRequests';
import { type PermissionRule, ruleLabel } from '../../client/rules/permissionRule';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import { permissionRules, removeRule, workspaceRules } from '../config/permissionSettings';
import { openPermissionSettings } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { openLocation } from '../editor/openLocation';
import { Archive } from '../sessions/archive';
import { type ChoiceRow, choiceFrom, List } from '../ui/input';
import { confirm } from '../ui/messages';
import { approvalRows, approvalsOf } from './approvals';

const MAX_ANSWERS = 100;
const MAX_MS = 1500;
const MAX_ROWS = 20_000;
const MAX_ABOUT = 200;

export async function managePermissions(workbench: Workbench, wanted?: string): Promise<void> {
  let agentRows: readonly ChoiceRow[] = [];
  let redraw = (): void => {};
  void answersOf(workbench)
    .catch((error: unknown) => [{ id: 'problem', label: messageOf(error), icon: 'warning' }])
    .then((found) => {
      agentRows = found;
      redraw();
    });
  for (;;) {
    const list = new List<ChoiceRow>(
      l10n.t('Select a rule or an approval to remove it'),
      l10n.t('Permissions and Approvals'),
    );
    const { user } = permissionRules();
    const shared = workspaceRules();
    const approved = approvalRows(approvalsOf(workbench), Date.now());
    const draw = (focus?: string): void =>
      list.draw([...permissionRows(user, shared, wanted), ...approved, ofAgents(), ...agentRows], [], focus);
    draw(focusOf(wanted, user, shared));
    redraw = () => draw();
    const chosen = await choiceFrom(list);
    if (!chosen) return;
    if ((await chosen()) === CLOSES) return;
  }
}

const CLOSES = 'closes';

async function answersOf(workbench: Workbench): Promise<readonly ChoiceRow[]> {
  const archive = workbench.get(Archive);
  const signal = AbortSignal.timeout(MAX_MS);
  const found: (ChoiceRow & Pick<KeptAnswer, 'at'>)[] = [];
  for (const { key, agentId, cwd, lastSeq } of archive.all()) {
    const name = workbench.get(AgentCatalog).nameOf(agentId);
    const choose = async (): Promise<string> => {
      workbench.get(ChatHome).showSession(key);
      return CLOSES;
    };
    for await (const one of keptAnswers({ lastSeq, read: archive.eventsOf(key) }, MAX_ROWS, signal)) {
      const { at, about, answer, isAllowed } = one;
      const description = [answer, name, formatTime(at)].join(' · ');
      const icon = isAllowed ? 'check' : 'circle-slash';
      found.push({
        id: `${key} ${found.length}`,
        label: oneLine(about, MAX_ABOUT),
        icon,
        description,
        detail: cwd,
        choose,
        at,
      });
    }
    if (signal.aborted || found.length >= MAX_ANSWERS) break;
  }
  return found.sort((a, b) => b.at - a.at).slice(0, MAX_ANSWERS);
}

type WorkspaceRule = ReturnType<typeof workspaceRules>[number];

function focusOf(
  label: string | undefined,
  own: readonly PermissionRule[],
  workspace: readonly WorkspaceRule[],
): string | undefined {
  if (label === undefined) return undefined;
  const index = own.findIndex((rule) => ruleLabel(rule) === label && rule.action !== 'ask');
  if (index >= 0) return `user ${index}`;
  const elsewhere = workspace.findIndex(({ rule }) => ruleLabel(rule) === label);
  return elsewhere < 0 ? undefined : `workspace ${elsewhere}`;
}

function permissionRows(
  own: readonly PermissionRule[],
  workspace: readonly WorkspaceRule[],
  wanted?: string,
): readonly ChoiceRow[] {
  const labels = [...own, ...workspace.map(({ rule }) => rule)].map(ruleLabel);
  const isGone = wanted !== undefined && !labels.includes(wanted);
  const edit = async (): Promise<string> => {
    await openPermissionSettings();
    return CLOSES;
  };
  return [
    ...(isGone ? [{ id: 'gone', label: l10n.t('The rule “{0}” no longer exists.', wanted), icon: 'info' }] : []),
    ...(own.length > 0 ? [heading(l10n.t('Your rules, the first that fits decides'))] : []),
    ...own.map(rowOf),
    ...(workspace.length > 0 ? [heading(l10n.t('Rules of this workspace, which can only restrict yours'))] : []),
    ...workspace.map(({ rule, file }, index) => ({
      ...plainRow(rule, `workspace ${index}`, file),
      choose: async () => {
        await openLocation({ path: file });
        return CLOSES;
      },
    })),
    ...(own.length + workspace.length === 0
      ? [{ id: 'none', label: l10n.t('No rules: agents’ requests are always shown to you.') }]
      : []),
    { id: 'edit', label: l10n.t('Edit Rules in Settings'), icon: 'json', alwaysShow: true, choose: edit },
  ];
}

function ofAgents(): ChoiceRow {
  const label = l10n.t('Agents keep their own “Always allow” answers.');
  return { id: 'agents', label, icon: 'info', alwaysShow: true };
}

function heading(label: string): ChoiceRow {
  return { label, separates: true };
}

function rowOf(rule: PermissionRule, index: number): ChoiceRow {
  const remove = (): Promise<void> => removeRule(rule);
  const label = rule.pattern ?? rule.kind;
  return {
    ...plainRow(rule, `user ${index}`, rule.folder),
    buttons: [{ icon: 'trash', tooltip: l10n.t('Remove'), run: remove }],
    choose: async () => {
      const detail = l10n.t('The rule no longer answers requests. Anything already running continues.');
      if (await confirm(l10n.t('Remove the rule about “{0}”?', label), detail, l10n.t('Remove'))) await remove();
    },
  };
}

function plainRow(
  { kind, pattern, agent, action, since }: PermissionRule,
  id: string,
  detail: string | undefined,
): ChoiceRow {
  const actions = { allow: l10n.t('Allow'), ask: l10n.t('Ask'), reject: l10n.t('Reject') };
  const icons = { allow: 'check', ask: 'question', reject: 'circle-slash' };
  return {
    id,
    label: pattern ?? kindLabel(kind),
    icon: icons[action],
    description: [actions[action], kindLabel(kind), agent, since && l10n.t('since {0}', since)]
      .filter(Boolean)
      .join(' · '),
    detail,
  };
}

function kindLabel(kind: string): string {
  switch (kind) {
    case '*':
      return l10n.t('Everything');
    case 'execute':
      return l10n.t('Commands');
    case 'edit':
      return l10n.t('Edits');
    case 'read':
      return l10n.t('Reading');
    default:
      return kind;
  }
}
