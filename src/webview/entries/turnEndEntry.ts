// The end of a turn: a thin line with stop reason, duration and counts.

import { effect } from '@preact/signals';
import { render } from 'preact';
import type { ItemView, TurnView } from '../../panel/contract';
import { drawChanges } from '../changes/changes';
import { changesList } from '../changes/changesList';
import { button, el, iconButton, setAttributes } from '../dom/dom';
import { post } from '../host/host';
import { session } from '../host/session';
import { formatCount, formatNumber } from '../text/format';
import { strings } from '../text/strings';
import type { EntryFactory } from './entryView';
import { durationLabel } from './toolLabel';

type TurnEndItem = Extract<ItemView, { kind: 'turn_end' }>;

const LONG_MS = 60_000;

export const createTurnEndEntry: EntryFactory = (stored, _index, context) => {
  // Children of a separator are hidden from assistive technology, and a focusable separator would
  // be a splitter.
  const rule = setAttributes(el('div', 'turn-rule'), { role: 'separator' });
  const actions = el('span', 'turn-actions');
  const resendButton = button('secondary small', strings.sendAgain, () => {
    if (stored.item.kind === 'turn_end') post({ type: 'sendAgain', turnId: stored.item.turn.id });
  });
  const group = setAttributes(el('div', 'turn-end', rule, actions), { role: 'group', tabindex: '-1' });
  const slot = el('div', 'changes-slot');
  const element = el('div', 'turn-end-entry', group);

  const currentTurn = (): TurnView => (stored.item as TurnEndItem).turn;

  function draw(): void {
    const { item } = stored;
    if (item.kind !== 'turn_end') return;
    const { turn } = item;
    const [reason, ...facts] = words(turn);
    const text = el('span', 'turn-text', el('span', 'turn-reason', reason!));
    for (const fact of facts) text.append(el('span', 'fact', ` · ${fact}`));
    const tokens = tokenLabels(turn);
    if (turn.tokens !== undefined) {
      const fact = el('span', 'fact', ` · ${strings.tokens(formatCount(turn.tokens))}`);
      if (tokens.length > 1) fact.title = tokens.slice(1).join('\n');
      text.append(fact);
    }
    const notes = [turn.starter, turn.ending, turn.isEmpty && strings.turnEmpty, turn.note].filter((note) => note);
    for (const note of notes)
      text.append(el('span', note === turn.ending ? 'turn-note ending' : 'turn-note', ` · ${note}`));
    const label = [reason, ...facts, ...tokens, ...notes].join(', ');
    setAttributes(group, { 'aria-label': label });
    setAttributes(rule, {
      'aria-label': label,
      'data-turn-id': turn.id,
      // Protocol values, which others read; an interruption is marked separately.
      'data-stop-reason': turn.stopReason ?? 'unknown',
      'data-barrier': turn.barrier,
    });
    showAll(session.turnCount.peek());
    rule.classList.toggle('interrupted', reasonOf(turn) === 'interrupted');
    rule.replaceChildren(text);
    actions.replaceChildren(iconButton('copy', strings.copyTurn, () => post({ type: 'copyTurn', turnId: turn.id })));
    if (turn.changes) {
      if (!slot.parentElement) element.append(slot);
      slot.classList.toggle('reserved', turn.changes.files > 0);
      drawChanges(slot, turn, context);
    }
  }

  /** Earlier turns that ended normally show only the line. */
  function showAll(turns: number): void {
    const turn = currentTurn();
    rule.classList.toggle('quiet', turn.number !== turns && isQuiet(turn));
  }

  /** Only the latest turn can be resent, and only once. */
  function offerAgain(failedTurnId: string | undefined): void {
    const isOffered = stored.item.kind === 'turn_end' && stored.item.turn.id === failedTurnId;
    if (!isOffered && document.activeElement === resendButton) group.focus();
    if (!isOffered) resendButton.remove();
    else if (!resendButton.parentElement) rule.after(resendButton);
  }

  draw();
  const effects = [
    effect(() => offerAgain(session.failedTurnId.value)),
    effect(() => showAll(session.turnCount.value)),
  ];
  return {
    element,
    update() {
      draw();
      offerAgain(session.failedTurnId.peek());
    },
    toggle() {
      slot.querySelector<HTMLElement>('.changes-line:not([hidden]) .changes-toggle')?.click();
    },
    seekChange: (file) => changesList({ turnId: currentTurn().id }).focusFile(file),
    dispose() {
      for (const dispose of effects) dispose();
      render(null, slot);
    },
  };
};

function isQuiet({ stopReason, startedAt, endedAt, waitedMs = 0, isEmpty, note, ...turn }: TurnView): boolean {
  if (stopReason !== 'end_turn' || endedAt === undefined || endedAt - startedAt - waitedMs >= LONG_MS) return false;
  const isPlain = turn.barrier !== 'timeout' && turn.barrier !== 'exit';
  return isPlain && !isEmpty && note === undefined && turn.starter === undefined;
}

function reasonOf({ stopReason = 'unknown', interrupted }: TurnView): keyof typeof strings.turnEnds {
  return stopReason === 'error' && interrupted ? 'interrupted' : stopReason;
}

function words(turn: TurnView): readonly string[] {
  const facts = [strings.turnEnds[reasonOf(turn)](turn.number)];
  // The duration of a replayed turn is unknown.
  if (turn.endedAt !== undefined && turn.endedAt > turn.startedAt)
    facts.push(durationLabel(turn.endedAt - turn.startedAt, turn.waitedMs));
  if (turn.tools > 0) facts.push(strings.tools(turn.tools));
  // The line of changes below counts what really changed on disk.
  if (turn.files > 0 && !turn.changes?.files) facts.push(strings.files(turn.files));
  return facts;
}

const TOKEN_PARTS = ['input', 'output', 'cachedRead', 'cachedWrite', 'thought'] as const;

/** Returns the total, then the counts by category reported by the agent. */
function tokenLabels({ tokens, tokenParts }: TurnView): readonly string[] {
  if (tokens === undefined) return [];
  const parts = TOKEN_PARTS.flatMap((part) => {
    const count = tokenParts?.[part];
    return count === undefined ? [] : [strings.tokenParts[part](formatNumber(count))];
  });
  return [strings.tokens(formatCount(tokens)), ...parts];
}
