// Turns the transcript of a session into the entries of an export.
import { localize } from '../../base/localizable';
import type { ToolContent } from '../../session/events/content';
import type { Entry, PlacedEntry, SessionState, ToolEntry } from '../../session/model/state';
import { gapText, noticeTexts, turnNoteText } from '../view/ownTexts';
import type { ItemPart, SessionItem } from './sessionItems';

type State = Pick<SessionState, 'entries' | 'turns' | 'terminals'>;

/** Ends each turn, even if the agent did not; entries after that keep their place. */
export class ItemWriter {
  readonly #state: State;
  readonly #turns: ReadonlyMap<string, State['turns'][number]>;
  readonly #begun = new Set<string>();
  #open: string | undefined;
  #last = 0;

  constructor(state: State) {
    this.#state = state;
    this.#turns = new Map(state.turns.map((turn) => [turn.id, turn]));
  }

  write({ entry, depth }: PlacedEntry): readonly SessionItem[] {
    if (depth > 0) return this.#itemsOf(entry).map((item) => ({ ...item, depth }));
    const { turnId } = entry;
    const begins = turnId === undefined || this.#begun.has(turnId) ? [] : [...this.end(), ...this.#begin(turnId)];
    const items = [...begins, ...this.#itemsOf(entry)];
    this.#last = items.at(-1)?.at ?? this.#last;
    return items;
  }

  end(): readonly SessionItem[] {
    if (this.#open === undefined) return [];
    this.#open = undefined;
    return [{ type: 'turn_end', at: this.#last, reason: 'unknown' }];
  }

  #begin(id: string): readonly SessionItem[] {
    const turn = this.#turns.get(id);
    if (!turn) return [];
    this.#begun.add(id);
    this.#open = id;
    this.#last = turn.startedAt;
    const by = turn.elsewhere ? ({ by: 'user', elsewhere: true } as const) : { by: turn.origin };
    return [{ type: 'turn', at: turn.startedAt, ...by }];
  }

  #itemsOf(entry: Entry): readonly SessionItem[] {
    const { at } = entry;
    switch (entry.kind) {
      case 'user':
      case 'agent':
      case 'thought':
        return entry.content.length === 0 ? [] : [{ type: entry.kind, at, content: entry.content }];
      case 'tool':
        return [this.#tool(entry)];
      case 'plan': {
        const { entries, markdown, uri, removed } = entry;
        const steps = entries.map(({ content, priority, status }) => ({
          content,
          priority,
          status,
        }));
        return [
          {
            type: 'plan',
            at,
            steps,
            markdown,
            uri,
            removed,
          },
        ];
      }
      case 'notice': {
        const { title, text } = noticeTexts(entry);
        const { severity, detail, raw } = entry;
        const all = detail ? `${text}\n\n${detail}` : text;
        return [{ type: 'notice', at, severity, title, text: all, raw }];
      }
      case 'error': {
        const { code, text, hint, stderr } = entry;
        return [
          {
            type: 'error',
            at,
            code,
            text: localize(text),
            hint: hint ? localize(hint) : undefined,
            stderr: stderr || undefined,
          },
        ];
      }
      case 'gap':
        return [{ type: 'missing', at, text: gapText(entry) }];
      case 'turn_end':
        return this.#turnEnd(entry.turnId, at);
    }
  }

  #turnEnd(id: string, at: number): readonly SessionItem[] {
    if (this.#open !== id) return [];
    this.#open = undefined;
    const turn = this.#turns.get(id);
    const note = turn?.note === undefined ? undefined : turnNoteText(turn.note);
    const { tokens, tokenParts, barrier, interrupted } = turn ?? {};
    return [
      {
        type: 'turn_end',
        at: turn?.endedAt ?? at,
        reason: turn?.stopReason ?? 'unknown',
        barrier,
        interrupted,
        note,
        tokens,
        tokenParts,
      },
    ];
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
      ...(decision && {
        decision: {
          outcome: decision.outcome,
          by: decision.by,
          name: decision.name,
          rule: decision.rule,
        },
      }),
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
