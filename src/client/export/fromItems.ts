// Converts the entries of a file to the events of a finished session. Files aren't trusted: they
// bring no buttons, ids, or permission decisions, which rules learn from.
import type { ToolContent } from '../../session/events/content';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import type { ItemPart, SessionItem, ToolItem } from './sessionItems';

const CODE = /^[a-z\d-]{1,60}$/;

type TurnEnd = Extract<SessionItem, { type: 'turn_end' }>;

export class ItemReader {
  readonly #now: number;
  #count = 0;
  #turn: string | undefined;
  #lastTime = 0;
  readonly #calls: string[] = [];

  /** @param now latest possible time, in ms since 1970 */
  constructor(now: number) {
    this.#now = now;
  }

  read(item: SessionItem): readonly TimedEvent[] {
    const at = this.#within(item.at);
    this.#lastTime = at;
    if (item.type === 'tool') return this.#tool(item);
    return this.#eventsOf(item, at).map((event) => ({ at, event }));
  }

  end(): readonly TimedEvent[] {
    return this.#endTurn('unknown', this.#lastTime).map((event) => ({ at: this.#lastTime, event }));
  }

  #eventsOf(item: Exclude<SessionItem, ToolItem>, at: number): readonly SessionEvent[] {
    switch (item.type) {
      case 'turn': {
        const ended = this.#endTurn('unknown', at);
        this.#turn = this.#id();
        const origin = item.elsewhere ? 'agent' : item.by;
        return [...ended, { type: 'turn_started', turnId: this.#turn, origin, at }];
      }
      case 'turn_end':
        return this.#endTurn(item.reason, at, item);
      case 'user':
        return [{ type: 'message', role: item.type, messageId: this.#id(), content: item.content }];
      case 'agent':
      case 'thought': {
        const [parent, messageId] = [this.#parentAt(item.depth), this.#id()];
        const { type: role, content } = item;
        if (parent === undefined) return [{ type: 'message', role, messageId, content }];
        return content.map((block) => ({ type: 'message_chunk', role, messageId, block, parent }));
      }
      case 'plan':
        return this.#plan(item);
      case 'notice': {
        const { severity, title, text, raw } = item;
        if (raw !== undefined) return [{ type: 'unknown_update', name: title, raw }];
        return [{ type: 'notice', severity, title, description: text }];
      }
      case 'error': {
        const { code, text: message, hint, stderr } = item;
        const errorCode = CODE.test(code) ? code : 'error';
        return [{ type: 'error', code: errorCode, message, hint: hint || undefined, stderr: stderr || undefined }];
      }
      case 'missing':
        return [{ type: 'gap', gapId: this.#id(), text: item.text, state: 'final' }];
    }
  }

  #tool(item: ToolItem): readonly TimedEvent[] {
    const { title, name, kind, status, locations, input: rawInput, output: rawOutput, endedAt } = item;
    const toolCallId = this.#id();
    const parent = this.#parentAt(item.depth);
    this.#calls.length = Math.min(this.#calls.length, item.depth ?? 0);
    this.#calls.push(toolCallId);
    const terminals: SessionEvent[] = [];
    const patch = {
      parent,
      title,
      name,
      kind,
      content: item.content.map((part) => this.#part(part, terminals)),
      locations,
      rawInput,
      rawOutput,
    };
    const isOpen = status === 'pending' || status === 'in_progress' || status === 'paused';
    const end = { status: isOpen ? 'cancelled' : status } as const;
    const [began, ended] = [this.#lastTime, this.#within(endedAt ?? item.at)];
    const first = ended === began ? { ...patch, ...end } : { ...patch, status: 'in_progress' as const };
    const call: SessionEvent = { type: 'tool_call', toolCallId, announced: true, patch: first };
    const over: SessionEvent = { type: 'tool_call', toolCallId, announced: false, patch: end };
    return [
      ...[...terminals, call].map((event) => ({ at: began, event })),
      ...(ended === began ? [] : [{ at: ended, event: over }]),
    ];
  }

  #part(part: ItemPart, terminals: SessionEvent[]): ToolContent {
    if (part.type !== 'terminal') return part;
    const { command, cwd, output, truncated, exitCode, signal } = part;
    const terminalId = this.#id();
    const exit = { exitCode, signal };
    terminals.push({ type: 'terminal', terminalId, output, command, cwd, truncated, exit, released: true });
    return { type: 'terminal', terminalId };
  }

  #plan({ steps, markdown, uri, removed }: Extract<SessionItem, { type: 'plan' }>): readonly SessionEvent[] {
    const planId = this.#id();
    const document =
      markdown !== undefined
        ? ({ type: 'markdown', text: markdown, path: uri } as const)
        : uri !== undefined
          ? ({ type: 'file', uri } as const)
          : undefined;
    return [
      document ? { type: 'plan_document', planId, document } : { type: 'plan', planId, entries: steps },
      ...(removed ? [{ type: 'plan_removed', planId } as const] : []),
    ];
  }

  #endTurn(
    stopReason: TurnEnd['reason'],
    at: number,
    { barrier, interrupted, note, tokens, tokenParts }: Partial<TurnEnd> = {},
  ): readonly SessionEvent[] {
    if (this.#turn === undefined) return [];
    const turnId = this.#turn;
    this.#turn = undefined;
    return [{ type: 'turn_ended', turnId, stopReason, barrier, interrupted, at, note, tokens, tokenParts }];
  }

  #parentAt(depth = 0): string | undefined {
    return depth === 0 ? undefined : this.#calls[Math.min(depth, this.#calls.length) - 1];
  }

  #within(at: number): number {
    return Math.min(at, this.#now);
  }

  #id(): string {
    return `imported-${++this.#count}`;
  }
}
