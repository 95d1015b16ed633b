// Labels for a running turn: what it is doing and for how long, when the agent was last heard, and
// whether it responds. Whole minutes only, as screen readers announce each change.
import * as l10n from '@vscode/l10n';
import { head } from '../../base/text';
import type { Entry, ToolEntry, Turn } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import type { LifeSigns } from '../connection/livenessProbe';

const WORTH_TELLING_MS = 60_000;
const MAX_TITLE = 60;
const MAX_LOOK = 2000;

interface TurnSign {
  readonly kind: keyof typeof LABELS;
  readonly ms: number;
  readonly title?: string;
}

/** Status of a running turn, and why the next message waits. */
const LABELS = {
  tool: (time: string, title: string) => [
    l10n.t('Working: {0} for {1}', title, time),
    l10n.t('Waiting: {0} has been running for {1}', title, time),
  ],
  silent: (time: string) => [
    l10n.t('Silent for {0}', time),
    l10n.t('Waiting: the agent has been silent for {0}', time),
  ],
  unresponsive: () => [l10n.t('Not responding'), l10n.t("Waiting: the agent isn't responding")],
  working: () => [l10n.t('Working'), l10n.t('Sent next')],
};

/** `Working`, `Working: Bash for 4 min`, `Silent for 2 min`, `Not responding`. */
export function workingLabel(signs: LifeSigns): string {
  return labelsOf(signs)[0]!;
}

export function waitingLabel(signs: LifeSigns): string {
  return labelsOf(signs)[1]!;
}

function labelsOf(signs: LifeSigns): readonly string[] {
  const { kind, ms, title = '' } = signOf(signs);
  return LABELS[kind](duration(ms), title);
}

const ENDED: Readonly<Record<string, () => string>> = {
  'connection-lost': () => l10n.t('Connection lost'),
  'agent-closed-output': () => l10n.t('Output closed'),
  'restart-loop': () => l10n.t('Keeps crashing'),
  'agent-exited': () => l10n.t('Process ended'),
};

/** @param code of the error that reports the end */
export function endedLabel(code: string): string {
  return ENDED[code]?.() ?? l10n.t('Ended');
}

/** Silence comes first: what the agent started may have ended with it. Running calls explain it. */
function signOf({ state, now, heardAt, isUnresponsive }: LifeSigns): TurnSign {
  const { turn } = state;
  const silentMs = now - Math.max(heardAt, turn?.startedAt ?? 0);
  if (isUnresponsive) return { kind: 'unresponsive', ms: silentMs };
  const tool = turn && openTool(state.entries, turn);
  if (tool) {
    const ms = now - tool.at;
    return ms >= WORTH_TELLING_MS ? { kind: 'tool', title: titleOf(tool), ms } : { kind: 'working', ms };
  }
  return { kind: silentMs >= WORTH_TELLING_MS ? 'silent' : 'working', ms: silentMs };
}

function openTool(entries: readonly Entry[], turn: Readonly<Turn>): ToolEntry | undefined {
  let found: ToolEntry | undefined;
  const last = Math.max(0, entries.length - MAX_LOOK);
  for (let index = entries.length - 1; index >= last; index--) {
    const entry = entries[index];
    if (entry?.turnId !== undefined && entry.turnId !== turn.id) break;
    if (entry?.kind === 'tool' && entry.turnId === turn.id && !isEnded(entry.status)) found = entry;
  }
  return found;
}

function titleOf({ title, name, toolKind }: ToolEntry): string {
  const words = (title || name || toolKind).replaceAll(/\s+/g, ' ').trim();
  return words.length > MAX_TITLE ? `${head(words, MAX_TITLE - 1)}…` : words;
}

/** `1 min`, `59 min`, `2 h`. */
function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? l10n.t('{0} min', minutes) : l10n.t('{0} h', Math.floor(minutes / 60));
}
