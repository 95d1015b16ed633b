// Labels and icons of the list of sessions, also for screen readers.
import { basename } from 'node:path';
import { l10n } from 'vscode';
import { formatTime } from '../../base/localFormat';
import type { SessionStatus } from '../../client/view/sessionStatus';
import { agoLabel } from '../sessions/sessionLabels';
import type { TreeRow } from '../ui/treeView';
import type { Grouping, GroupNode, ListNode, MoreNode, SessionEntry, SessionTree, TogetherNode } from './sessionTree';

const MAX_LABEL = 40;

export function statusLabel(status: SessionStatus): string {
  return {
    needsYou: l10n.t('Needs you'),
    working: l10n.t('Working'),
    failed: l10n.t('Failed'),
    ready: l10n.t('Ready'),
    otherWindow: l10n.t('In another window'),
    ended: l10n.t('Ended'),
  }[status];
}

export function groupingLabel(grouping: Grouping): string {
  return {
    state: l10n.t('Group by State'),
    agent: l10n.t('Group by Agent'),
    folder: l10n.t('Group by Folder'),
    none: l10n.t("Don't Group"),
  }[grouping];
}

export function rowOf(node: ListNode, tree: SessionTree, now: number): TreeRow {
  switch (node.kind) {
    case 'group':
      return groupRow(node, tree);
    case 'together':
      return togetherRow(node, tree);
    case 'more':
      return moreRow(node);
    case 'session': {
      const entry = tree.entry(node.session);
      if (!entry) return { id: node.id, label: '', context: '' };
      return sessionRow(node.id, entry, now, tree.parent(node)?.kind === 'together');
    }
  }
}

function groupRow(node: GroupNode, tree: SessionTree): TreeRow {
  const { grouping } = tree;
  const isStored = node.name === 'ended' && grouping === 'state';
  const label =
    grouping === 'state'
      ? isStored
        ? l10n.t('Earlier')
        : statusLabel(node.name as SessionStatus)
      : grouping === 'folder'
        ? basename(node.name) || node.name
        : tree.agentName(node.name);
  const count = grouping === 'state' && !isStored ? String(tree.count(node)) : undefined;
  const isOpen = grouping === 'state' || tree.count(node) > 0;
  return {
    id: node.id,
    label,
    ...(count !== undefined && { description: count, spoken: `${label}, ${count}` }),
    tooltip: grouping === 'folder' ? node.name : undefined,
    children: isOpen ? 'open' : 'closed',
    context: 'group',
  };
}

function togetherRow(node: TogetherNode, tree: SessionTree): TreeRow {
  const members = tree.members(node);
  const agents = members.map(({ agentName }) => agentName).join(', ');
  const label = members[0]?.title ?? '';
  return {
    id: node.id,
    label: head(label),
    description: agents,
    tooltip: `${label}\n${l10n.t('Asked together: {0}', agents)}`,
    spoken: `${label}, ${l10n.t('Asked together: {0}', agents)}`,
    icon: { name: 'group-by-ref-type' },
    children: 'open',
    context: 'together',
  };
}

function moreRow(node: MoreNode): TreeRow {
  return {
    id: node.id,
    label: l10n.t('Show More Sessions'),
    icon: { name: 'chevron-down' },
    context: 'more',
    command: { command: 'parley.sessionList.more', title: l10n.t('Show More Sessions') },
  };
}

/** @param isMember true below a message to several agents, where the agent's name is the label */
function sessionRow(id: string, entry: SessionEntry, now: number, isMember: boolean): TreeRow {
  const { title, agentName, cwd, files, at, status, unread, pinned, archived, isLive } = entry;
  const changed = files === 0 ? '' : files === 1 ? l10n.t('1 file') : l10n.t('{0} files', files);
  const isMarked = status === 'needsYou' || status === 'failed';
  const parts = [
    ...(isMarked ? [statusLabel(status)] : []),
    ...(isMember ? [] : [agentName, basename(cwd)]),
    changed,
    agoLabel(at, now),
  ].filter((part) => part !== '');
  const spoken = [
    title,
    statusLabel(status),
    ...(unread ? [l10n.t('unread')] : []),
    ...(pinned ? [l10n.t('pinned')] : []),
    agentName,
    basename(cwd),
    changed,
    agoLabel(at, now),
  ].filter((part) => part !== '');
  const flags = [
    'session',
    isLive ? 'live' : status === 'ended' ? 'stored' : 'elsewhere',
    pinned ? 'pinned' : 'unpinned',
    archived ? 'archived' : 'unarchived',
  ];
  return {
    id,
    label: isMember ? agentName : head(title),
    description: parts.join(' · '),
    tooltip: [title, `${agentName} · ${statusLabel(status)}`, cwd, formatTime(at)].join('\n'),
    spoken: spoken.join(', '),
    icon: iconOf(entry),
    context: flags.join(' '),
    command: { command: 'parley.sessionList.open', title: l10n.t('Open Session') },
  };
}

function head(title: string): string {
  return title.length > MAX_LABEL ? `${title.slice(0, MAX_LABEL)}…` : title;
}

/** Without animation: twenty spinning icons cost more than twenty writing agents. */
function iconOf({ status, unread, pinned, archived }: SessionEntry): NonNullable<TreeRow['icon']> {
  switch (status) {
    case 'needsYou':
      return { name: 'question', color: 'notificationsWarningIcon.foreground' };
    case 'working':
      return { name: 'play-circle', color: 'charts.blue' };
    case 'failed':
      return { name: 'error', color: 'notificationsErrorIcon.foreground' };
    case 'otherWindow':
      return { name: 'multiple-windows' };
    default:
      if (unread) return { name: 'circle-filled', color: 'charts.blue' };
      if (pinned) return { name: 'pinned' };
      if (archived) return { name: 'archive' };
      return { name: status === 'ready' ? 'circle-outline' : 'comment' };
  }
}
