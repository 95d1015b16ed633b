// Converts the transcript of a session to exported entries.
import { localize } from '../../base/localizable';
import type { ToolContent } from '../../session/events/content';
import type { Entry, PlacedEntry, SessionState, ToolEntry } from '../../session/model/state';
import { gapText, noticeTexts, turnNoteText } from '../view/ownTexts';
import type { ItemPart, SessionItem } from './sessionItems';

type State = Pick<SessionState, 'entries' | 'turns' | 'terminals'>;

/** Ends each turn, even if the agent did not. Later entries keep their place. */
export class ItemWriter {
  readonly #state: State;
  readonly #turns: ReadonlyMap<string, State['turns'][number]>;
  readonly #begun = new Set<string>();
  #open: string | undefined;
  #lastTime = 0;

  constructor(state: State) {
    this.#state = state;
    this.#turns = new Map(state.turns.map((turn) => [turn.id, turn]));
  }

  write({ entry, depth }: PlacedEntry): readonly SessionItem[] {
    const { turnId } = entry;
    const isBegun = depth > 0 || turnId === undefined || this.#begun.has(turnId);
    const begins = isBegun ? [] : [...this.end(), ...this.#begin(turnId)];
    const item = this.#itemOf(entry);
    if (!item) return begins;
    if (depth > 0) return [{ ...item, depth } as SessionItem];
    this.#lastTime = item.at;
    return [...begins, item];
  }

  end(): readonly SessionItem[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    return [{ type: 'turn_end', at: this.#lastTime, reason: 'unknown' }];
  }

  #begin(id: string): readonly SessionItem[] {
    const turn = this.#turns.get(id);
    if (!turn) return [];
    this.#begun.add(id);
    this.#open = id;
    this.#lastTime = turn.startedAt;
    const by = turn.elsewhere ? ({ by: 'user', elsewhere: true } as const) : { by: turn.origin };
    return [{ type: 'turn', at: turn.startedAt, ...by }];
  }

  #itemOf(entry: Entry): SessionItem | undefined {
    const { at } = entry;
    switch (entry.kind) {
      case 'user':
      case 'agent':
      case 'thought':
        return entry.content.length === 0 ? undefined : { type: entry.kind, at, content: entry.content };
      case 'tool':
        return this.#tool(entry);
      case 'plan': {
        const { entries, markdown, uri, removed } = entry;
        const steps = entries.map(({ content, priority, status }) => ({ content, priority, status }));
        return { type: 'plan', at, steps, markdown, uri, removed };
      }
      case 'notice': {
        const { title, text } = noticeTexts(entry);
        const { severity, detail, raw } = entry;
        return { type: 'notice', at, severity, title, text: detail ? `${text}\n\n${detail}` : text, raw };
      }
      case 'error': {
        const { code, text, hint: advice, stderr } = entry;
        const hint = advice ? localize(advice) : undefined;
        return { type: 'error', at, code, text: localize(text), hint, stderr: stderr || undefined };
      }
      case 'gap':
        return { type: 'missing', at, text: gapText(entry) };
      case 'turn_end':
        return this.#turnEnd(entry.turnId, at);
    }
  }

  #turnEnd(id: string, at: number): SessionItem | undefined {
    if (this.#open !== id) return undefined;
    this.#open = undefined;
    const turn: Partial<State['turns'][number]> = this.#turns.get(id) ?? {};
    const { endedAt = at, stopReason: reason = 'unknown', tokens, tokenParts, barrier, interrupted } = turn;
    const note = turn.note === undefined ? undefined : turnNoteText(turn.note);
    return { type: 'turn_end', at: endedAt, reason, barrier, interrupted, note, tokens, tokenParts };
  }

  #tool(entry: ToolEntry): SessionItem {
    const { at, endedAt, title, name, toolKind, status, locations, rawInput, rawOutput, decision } = entry;
    return {
      type: 'tool',
      at,
      endedAt: endedAt !== undefined && endedAt !== at ? endedAt : undefined,
      title,
      name,
      kind: toolKind,
      status,
      content: entry.content.map((part) => this.#part(part)),
      locations: locations.map(({ path, line }) => ({ path, line })),
      input: rawInput,
      output: rawOutput,
      decision: decision && {
        outcome: decision.isEdited ? 'edited' : decision.outcome,
        by: decision.by,
        name: decision.isEdited ? undefined : decision.name,
        rule: decision.rule,
      },
    };
  }

  #part(part: ToolContent): ItemPart {
    if (part.type !== 'terminal') return part;
    const terminal = this.#state.terminals.get(part.terminalId);
    const { command, cwd, output = '', truncated, exit } = terminal ?? {};
    return {
      type: 'terminal',
      command,
      cwd,
      output,
      truncated: truncated || undefined,
      exitCode: exit?.exitCode,
      signal: exit?.signal,
    };
  }
}
