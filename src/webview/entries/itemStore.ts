// The items that the page has loaded. Operations on other items only update the total.
import { head, textOfBlocks } from '../../base/text';
import { type ItemView, MAX_PROMPT_HEAD, type Op, type TerminalView } from '../../panel/contract';
import type { MarkdownDoc } from '../markdown/markdownDoc';

type TextItem = Extract<ItemView, { kind: 'user' | 'agent' | 'thought' }>;
type ToolItem = Extract<ItemView, { kind: 'tool' }>;

export interface StoredItem {
  item: ItemView;
  /** Revision of a loaded page, which already includes earlier operations. */
  revision: number;
  /** Parsed Markdown by content index, kept while the item is not drawn. */
  readonly docs: Map<number, MarkdownDoc>;
}

export type ItemChange =
  | { readonly type: 'put'; readonly index: number }
  | { readonly type: 'append'; readonly index: number; readonly text: string }
  | { readonly type: 'blocks'; readonly index: number; readonly from: number }
  | { readonly type: 'terminal'; readonly index: number };

export class ItemStore {
  readonly #items = new Map<number, StoredItem>();
  readonly #terminals = new Map<string, Set<number>>();
  readonly #nested = new Set<number>();
  total = 0;
  /** User messages by turn, kept when their items are evicted. */
  readonly prompts = new Map<string, { readonly index: number; readonly text: string }>();
  /** Indices that are in use elsewhere and must not be evicted. */
  readonly inUse = new Set<number>();

  get(index: number): StoredItem | undefined {
    return this.#items.get(index);
  }

  isNested(index: number): boolean {
    return this.#nested.has(index);
  }

  /**
   * Starts over with the last page.
   * @param nested inclusive ranges of items nested in others
   */
  reset(
    total: number,
    from: number,
    items: readonly ItemView[],
    revision: number,
    nested: readonly (readonly [number, number])[] = [],
  ): void {
    this.#nested.clear();
    for (const [first, last] of nested) for (let index = first; index <= last; index++) this.#nested.add(index);
    this.#items.clear();
    this.#terminals.clear();
    this.total = Math.max(total, from + items.length);
    this.insert(from, items, revision);
  }

  insert(from: number, items: readonly ItemView[], revision: number): void {
    items.forEach((item, offset) => {
      if (from + offset < this.total) this.#set(from + offset, item, revision);
    });
  }

  /** Removes items in the range; they are requested again when needed. */
  evict(from: number, to: number): void {
    for (let index = from; index < to; index++) if (!this.inUse.has(index)) this.#items.delete(index);
  }

  apply(op: Exclude<Op, { op: 'session' }>, revision: number): readonly ItemChange[] {
    switch (op.op) {
      case 'put': {
        const isNew = op.index >= this.total;
        this.total = Math.max(this.total, op.index + 1);
        if (!isNew && !this.#items.has(op.index)) return [];
        this.#set(op.index, op.item, revision);
        return [{ type: 'put', index: op.index }];
      }
      case 'append': {
        const stored = this.#items.get(op.index);
        if (!stored || stored.revision > revision || !isText(stored.item)) return [];
        stored.item = appended(stored.item, op.text, op.until);
        return [{ type: 'append', index: op.index, text: op.text }];
      }
      case 'blocks': {
        const stored = this.#items.get(op.index);
        if (!stored || stored.revision > revision || !isText(stored.item)) return [];
        const { item } = stored;
        const content = [...item.content.slice(0, op.from), ...op.blocks];
        stored.item = { ...item, content, duration: Math.max(item.duration, op.until - item.at) };
        return [{ type: 'blocks', index: op.index, from: op.from }];
      }
      case 'terminal': {
        const changes: ItemChange[] = [];
        for (const index of this.#terminals.get(op.terminalId) ?? []) {
          const stored = this.#items.get(index);
          if (!stored || stored.revision > revision || stored.item.kind !== 'tool') continue;
          stored.item = withOutput(stored.item, op.terminalId, op.text, op.drop);
          changes.push({ type: 'terminal', index });
        }
        return changes;
      }
    }
  }

  /** Yields the user messages, newest first, up to the first item that is not loaded. */
  *userTexts(): Generator<string, void, undefined> {
    for (let index = this.total - 1; index >= 0; index--) {
      const item = this.#items.get(index)?.item;
      if (!item) return;
      if (item.kind === 'user' && !item.edits) yield textOfBlocks(item.content, '\n');
    }
  }

  #set(index: number, item: ItemView, revision: number): void {
    const stored = this.#items.get(index);
    if (item.path) this.#nested.add(index);
    if (item.kind === 'user' && item.turnId !== undefined)
      this.prompts.set(item.turnId, { index, text: head(textOfBlocks(item.content, '\n').trim(), MAX_PROMPT_HEAD) });
    if (stored) {
      if (stored.item.id !== item.id || !continues(stored.item, item)) stored.docs.clear();
      stored.item = item;
      stored.revision = revision;
    } else {
      this.#items.set(index, { item, revision, docs: new Map() });
    }
    if (item.kind !== 'tool') return;
    for (const content of item.content) {
      if (content.type !== 'terminal') continue;
      const indices = this.#terminals.get(content.terminal.id) ?? new Set();
      this.#terminals.set(content.terminal.id, indices.add(index));
    }
  }
}

export function isText(item: ItemView): item is TextItem {
  return item.kind === 'user' || item.kind === 'agent' || item.kind === 'thought';
}

/** Returns whether `next` only extends `previous`, so that derived data stays valid. */
function continues(previous: ItemView, next: ItemView): boolean {
  if (!isText(previous) || !isText(next)) return false;
  return previous.content.every((block, index) => {
    const now = next.content[index];
    return block.type === 'text' && now?.type === 'text' && now.text.startsWith(block.text);
  });
}

function appended(item: TextItem, text: string, until: number): TextItem {
  const last = item.content.at(-1);
  const content =
    last?.type === 'text'
      ? [...item.content.slice(0, -1), { ...last, text: last.text + text }]
      : [...item.content, { type: 'text' as const, text }];
  return { ...item, content, duration: Math.max(item.duration, until - item.at) };
}

/** Maximum characters kept; the host has more, and can open the whole output. */
const TERMINAL_CHARS = 100_000;

function withOutput(item: ToolItem, terminalId: string, text: string, drop: number): ToolItem {
  return {
    ...item,
    content: item.content.map((content) => {
      if (content.type !== 'terminal' || content.terminal.id !== terminalId) return content;
      const { terminal } = content;
      const whole = terminal.output.slice(drop) + text;
      // Trims in large steps, as each trim copies everything.
      const tooLong = whole.length > 2 * TERMINAL_CHARS;
      const next: TerminalView = {
        ...terminal,
        output: tooLong ? whole.slice(-TERMINAL_CHARS) : whole,
        truncated: terminal.truncated || drop > 0 || tooLong,
      };
      return { ...content, terminal: next };
    }),
  };
}
