// What happened in a session while it wasn't shown: files, commands, answers by rules and cost,
// from the events alone. Bounded for any session.
import { basename } from 'node:path';
import { oneLine } from '../../base/text';
import type { AwayList, AwayView } from '../../panel/contract';
import type { Usage } from '../../session/events/content';
import type { Entry, SessionState, Terminal, ToolEntry } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import { pathOf } from '../changes/changedPaths';
import type { SessionChanges } from '../changes/sessionChanges';
import { decisionOf, labelOf } from './projectItem';
import { commandLinesOf } from './toolCall';

const MAX_ROWS = 8;
const MAX_TURNS = 20;
const MAX_LINE = 200;

export interface AwaySource {
  readonly model: { readonly state: Readonly<SessionState> };
  readonly roots: readonly string[];
  readonly changes: Pick<SessionChanges, 'total' | 'changesOf'>;
}

export interface LeftAt {
  /** Time of the first unseen event, ms since 1970. */
  readonly since: number;
  readonly cost?: Usage['cost'];
}

export async function awayView(source: AwaySource, left: LeftAt): Promise<AwayView | undefined> {
  const { state } = source.model;
  const first = firstSince(state.entries, left.since);
  const isNew = (time: number | undefined): boolean => time !== undefined && time >= left.since;
  // A call may have begun earlier.
  const calls = state.entries.filter(
    (entry): entry is ToolEntry => entry.kind === 'tool' && (entry.index >= first || isNew(entry.endedAt)),
  );
  const turns = state.turns.filter(({ endedAt, replayed }) => !replayed && isNew(endedAt));
  const hasOutput = state.entries.slice(first).some(({ kind }) => kind === 'agent' || kind === 'error');
  if (calls.length + turns.length === 0 && !hasOutput) return undefined;
  const commands = calls.filter(({ toolKind }) => toolKind === 'execute');
  const decisions = calls.flatMap((entry) => {
    const decision = decisionOf(entry);
    if (decision?.outcome !== 'allowed' && decision?.outcome !== 'rejected') return [];
    const { rule, outcome } = decision;
    return rule === undefined
      ? []
      : [{ title: lineOf(entry, state), rule: oneLine(rule, MAX_LINE), outcome, index: entry.index }];
  });
  const tokens = turns.reduce((sum, turn) => sum + (turn.tokens ?? 0), 0);
  const cost = costSince(state.usage?.cost, left.cost);
  return {
    since: left.since,
    index: Math.min(first, state.entries.length - 1),
    turns: turns.length,
    files: await filesOf(source, calls, isNew),
    commands: newest(commands.map((entry) => commandOf(entry, state))),
    decisions: newest(decisions),
    cost,
    tokens: tokens > 0 ? tokens : undefined,
  };
}

/** Returns the index of the first entry since a time, or the number of entries. */
export function firstSince(entries: readonly Entry[], since: number): number {
  let first = entries.length;
  while (first > 0 && entries[first - 1]!.at >= since) first--;
  return first;
}

function newest<T>(all: readonly T[]): AwayList<T> {
  return { shown: all.slice(-MAX_ROWS), total: all.length };
}

type Row = AwayView['files']['shown'][number];

async function filesOf(
  { model, roots, changes }: AwaySource,
  calls: readonly ToolEntry[],
  isNew: (time: number | undefined) => boolean,
): Promise<AwayView['files']> {
  const { turns, turn: running } = model.state;
  const found = new Map<string, Row>();
  const indices = new Map<string, number>();
  for (const { content, index } of calls)
    for (const part of content) if (part.type === 'diff') indices.set(part.path, index);
  const add = (path: string, added: number, removed: number): void => {
    const previous = found.get(path);
    const index = indices.get(path);
    found.set(path, {
      path,
      label: labelOf(path, roots) || basename(path),
      added: added + (previous?.added ?? 0),
      removed: removed + (previous?.removed ?? 0),
      index,
    });
  };
  for (const turn of turns.filter((each) => each === running || isNew(each.endedAt)).slice(-MAX_TURNS)) {
    const total = changes.total(turn.id);
    // If a folder's states were removed, the events say which files changed.
    const changed = total && total.files > 0 ? await changes.changesOf(turn.id).catch(() => undefined) : [];
    if (changed) for (const change of changed) add(pathOf(change), change.added, change.removed);
    else for (const path of turn.files) add(path, 0, 0);
  }
  if (found.size === 0) for (const path of indices.keys()) add(path, 0, 0);
  return { shown: [...found.values()].slice(0, MAX_ROWS), total: found.size };
}

function commandOf(entry: ToolEntry, state: Readonly<SessionState>): AwayView['commands']['shown'][number] {
  const exit = terminalOf(entry, state)?.exit;
  const hasFailed = entry.status === 'failed' || entry.status === 'cancelled';
  return {
    line: lineOf(entry, state),
    index: entry.index,
    state: exit || isEnded(entry.status) ? (hasFailed ? 'failed' : 'done') : 'running',
    exitCode: exit?.exitCode,
    signal: exit?.signal !== undefined ? oneLine(exit.signal, MAX_LINE) : undefined,
  };
}

function lineOf(entry: ToolEntry, state: Readonly<SessionState>): string {
  const line = commandLineOf(entry, state) ?? entry.title;
  return oneLine(line.replace(/^`(.*)`$/s, '$1') || entry.name || entry.toolKind, MAX_LINE);
}

/** Undefined if the earlier cost is unknown or in another currency. */
function costSince(now: Usage['cost'], before: Usage['cost']): AwayView['cost'] {
  if (!now || !before || now.currency !== before.currency || now.amount <= before.amount) return undefined;
  return { amount: now.amount - before.amount, currency: now.currency };
}

function commandLineOf(entry: ToolEntry, state: Readonly<SessionState>): string | undefined {
  return terminalOf(entry, state)?.command ?? commandLinesOf(entry);
}

function terminalOf({ content }: ToolEntry, { terminals }: Readonly<SessionState>): Terminal | undefined {
  const part = content.find(({ type }) => type === 'terminal');
  return part?.type === 'terminal' ? terminals.get(part.terminalId) : undefined;
}
