// Every text of the timeline, whose code is loaded later than the rest of the panel.
import './language';
import * as l10n from '@vscode/l10n';
import { formatCost, formatCount, formatDuration, formatNumber, formatShare, plural } from './format';

export const strings = {
  timeline: l10n.t('Timeline'),
  list: l10n.t('Turns and tool calls'),
  picture: (turns: number, calls: number) =>
    l10n.t('{0}, {1}, drawn along time', countOfTurns(turns), countOfCalls(calls)),
  summary: (turns: number, calls: number) => `${countOfTurns(turns)} · ${countOfCalls(calls)}`,
  empty: l10n.t('No turns yet'),
  zoomIn: l10n.t('Zoom In (+)'),
  zoomOut: l10n.t('Zoom Out (−)'),
  showAll: l10n.t('Show All (0)'),
  close: l10n.t('Close (Escape)'),
  waits: l10n.t('Waits for you'),
  turn: (number: number) => l10n.t('Turn {0}', formatNumber(number)),
  calls: countOfCalls,
  tokens: (count: number) => l10n.t('{0} tokens', formatCount(count)),
  context: l10n.t('Context'),
  contextUsed: (share: number) => l10n.t('{0} of the context', formatShare(share)),
  cost: formatCost,
  waited: (ms: number) => l10n.t('waited for you {0}', formatDuration(ms)),
  running: l10n.t('In progress'),
  failed: l10n.t('Failed'),
  cancelled: l10n.t('Cancelled'),
  kinds: {
    read: l10n.t('Read'),
    edit: l10n.t('Edit'),
    delete: l10n.t('Delete'),
    move: l10n.t('Move'),
    search: l10n.t('Search'),
    execute: l10n.t('Run'),
    think: l10n.t('Think'),
    fetch: l10n.t('Fetch'),
    switch_mode: l10n.t('Mode'),
    subagent: l10n.t('Subagent'),
    other: l10n.t('Tool'),
  } as Readonly<Record<string, string>>,
} as const;

function countOfTurns(count: number): string {
  return plural(
    count,
    (one) => l10n.t('{0} turn', one),
    (other) => l10n.t('{0} turns', other),
  );
}

function countOfCalls(count: number): string {
  return plural(
    count,
    (one) => l10n.t('{0} tool call', one),
    (other) => l10n.t('{0} tool calls', other),
  );
}
