// Splits streaming Markdown into closed units, which never change, and the open rest. A closed unit
// is a block, a list item, a table row or a part of a code block, so that the work per chunk is
// bounded by the open unit, however long the message. The splits depend only on the text, not on
// the chunks in which it arrived. Pure: no DOM.
import { lexBlocks } from '../../markdown/blockLexer';
import type { Align, Block, ListItem } from '../../markdown/blocks';
import { codeCut, IMAGE_MARK, longImage, type OpenFence, stripIndent, windowCut } from './cuts';

/** Pieces with the same `group` share their list, table or code block within a segment. */
export type Piece = PieceContent & {
  readonly folds?: readonly number[];
};

type PieceContent =
  | {
      readonly kind: 'block';
      readonly block: Block;
      readonly joined: boolean;
    }
  | { readonly kind: 'fold'; readonly id: number; readonly summary: string }
  | {
      readonly kind: 'item';
      readonly item: ListItem;
      readonly group: number;
      readonly ordered: boolean;
      readonly number: number;
      readonly first: boolean;
    }
  | {
      readonly kind: 'row';
      readonly head: readonly string[];
      readonly align: readonly Align[];
      readonly cells: readonly string[] | undefined;
      readonly group: number;
      readonly first: boolean;
    }
  | {
      readonly kind: 'code';
      readonly text: string;
      readonly lang: string;
      readonly title?: string;
      readonly group: number;
      readonly first: boolean;
      readonly closed: boolean;
      readonly midLine: boolean;
    };

const MAX_FOLD_DEPTH = 2;

/**
 * The ranges between `<details>` and `</details>`. Each piece has the ids of its folds, so that a
 * fold can be of any length.
 */
class Folds {
  /** The folds that are open at the end of the closed pieces. */
  #within: readonly number[] = [];
  #count = 0;
  /** Whether each fold is expanded initially, by id. */
  readonly #begin: boolean[] = [];
  readonly #toggled = new Set<number>();

  take(pieces: readonly Piece[]): readonly Piece[] {
    const { placed, within, count } = this.#place(pieces);
    this.#within = within;
    this.#count = count;
    return placed;
  }

  /** Returns pieces that can still change, with their current folds. */
  preview(pieces: readonly Piece[]): readonly Piece[] {
    return this.#place(pieces).placed;
  }

  isOpen(id: number): boolean {
    return this.#begin[id] !== this.#toggled.has(id);
  }

  toggle(id: number): void {
    if (!this.#toggled.delete(id)) this.#toggled.add(id);
  }

  isHidden({ folds }: Piece): boolean {
    return folds !== undefined && !folds.every((id) => this.isOpen(id));
  }

  #place(pieces: readonly Piece[]) {
    let within = this.#within;
    let count = this.#count;
    const placed = pieces.map((piece): Piece => {
      if (piece.kind !== 'block') return inFolds(piece, within);
      const { block } = piece;
      if (block.type === 'fold' && within.length < MAX_FOLD_DEPTH) {
        const id = count++;
        const line: Piece = inFolds({ kind: 'fold', id, summary: block.summary }, within);
        within = [...within, id];
        this.#begin[id] = block.isOpen;
        return line;
      }
      if (block.type === 'foldEnd' && within.length > 0) {
        within = within.slice(0, -1);
        return piece;
      }
      if (block.type !== 'fold' && block.type !== 'foldEnd') return inFolds(piece, within);
      const { raw } = block;
      return inFolds({ ...piece, block: { type: 'paragraph', raw, text: raw.trim() } }, within);
    });
    return { placed, within, count };
  }
}

function inFolds(piece: Piece, within: readonly number[]): Piece {
  return within.length === 0 ? piece : { ...piece, folds: within };
}

export interface Segment {
  readonly pieces: Piece[];
  size: number;
}

/** Maximum characters of the open end that are lexed. A longer unit is split. */
const WINDOW = 8_000;
/** Size of a full segment: the characters of its pieces, plus an overhead per piece. */
const SEGMENT_SIZE = 2_000;
const PIECE_SIZE = 24;
const HEAD_SIZE = 120;
/** Tables are not split up to this size, as column widths depend on the cells. */
const TABLE_SIZE = 24_000;
const LINE_SIZE = 200_000;

export class MarkdownDoc {
  /** Full segments never change. */
  readonly segments: Segment[] = [{ pieces: [], size: 0 }];
  open: readonly Piece[] = [];
  #tail = '';
  length = 0;
  #heldBack = '';
  #groups = 0;
  /** Ids of code groups count down, so that they depend on the text alone. */
  #codes = 0;
  /** Whether the tail continues a split block; `text`: as text, whatever it looks like. */
  #joined: 'no' | 'block' | 'text' = 'no';
  #settled = false;
  /** Whether to look for images, which takes a third of the time for a long text. */
  #hasImage = false;
  #fence: OpenFence | undefined;
  #list: { readonly group: number; readonly number: number } | undefined;
  #table: { readonly group: number; readonly head: string } | undefined;
  readonly folds = new Folds();
  readonly #notes = new Set<string>();
  readonly wrapped = new Set<number>();

  get noteCount(): number {
    return this.#notes.size + this.open.filter(isNote).length;
  }

  hasNote(label: string): boolean {
    return this.#notes.has(label) || this.open.some((piece) => isNote(piece) && piece.block.label === label);
  }

  isComplete(group: number): boolean {
    return this.#settled || this.#fence?.group !== group;
  }

  append(text: string): void {
    this.length += text.length;
    this.#settled = false;
    let added = this.#heldBack + text;
    this.#heldBack = added.endsWith('\r') ? '\r' : '';
    if (this.#heldBack) added = added.slice(0, -1);
    if (added.includes('\r')) added = added.replace(/\r\n?/g, '\n');
    this.#hasImage ||= (this.#tail.slice(-IMAGE_MARK.length) + added).includes(IMAGE_MARK);
    this.#tail += added;
    this.#run();
  }

  /** Marks the text as complete: shows incomplete constructs as they are. */
  settle(): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#run();
  }

  #run(): void {
    while (this.#fence ? this.#advanceFence(this.#fence) : this.#advance());
  }

  #advance(): boolean {
    let size = WINDOW;
    const image = this.#hasImage && this.#tail.length > WINDOW ? longImage(this.#tail, WINDOW) : undefined;
    if (image?.isWhole) size = image.end + WINDOW;
    else if (image && !this.#settled) {
      // An image is drawn once its data is complete.
      const before = lexBlocks(this.#tail.slice(0, image.start), { continued: this.#joined === 'text' });
      this.#setOpen(before.flatMap((part, index) => this.#piecesOf(part, index === 0)));
      return false;
    }
    const isFull = this.#tail.length > size;
    const head = this.#table?.head ?? '';
    const source = head + (isFull ? this.#tail.slice(0, size) : this.#tail);
    const blocks = lexBlocks(source, { continued: this.#joined === 'text', stopAtFence: true });
    const starts: number[] = [];
    let end = 0;
    for (const block of blocks) {
      starts.push(end);
      end += block.raw.length;
    }
    const solid = blocks.flatMap((block, index) => (block.type === 'space' ? [] : [index]));
    const last = solid.at(-1);
    if (last === undefined) {
      const keep = isFull ? source.length : this.#tail.lastIndexOf('\n') + 1;
      if (keep > 0) this.#leaveContext();
      this.#tail = this.#tail.slice(keep);
      this.open = [];
      return isFull;
    }
    // Blocks before one that has certainly started are closed. An incomplete line could still join
    // the previous block.
    const closed = isBegun(blocks[last]!, source, starts[last]!) ? last : (solid.at(-2) ?? last);
    for (const block of blocks.slice(0, closed)) {
      this.#close(this.#piecesOf(block));
      this.#leaveContext();
    }
    const block = blocks[closed]!;
    const start = starts[closed]!;
    // After the first line, a fence is split line by line without the lexer.
    const line = block.type === 'code' && block.fence ? source.indexOf('\n', start) : -1;
    if (block.type === 'code' && block.fence && line !== -1) {
      const { fence, lang } = block;
      this.#fence = { ...fence, lang, group: --this.#codes, first: true, midLine: false };
      this.#tail = this.#tail.slice(line + 1 - head.length);
      this.#leaveContext();
      return true;
    }
    if (start > 0) this.#tail = this.#tail.slice(start - head.length);
    const hasMoved = start > 0 || this.#closeParts(block);
    if (isFull) return hasMoved || this.#cut(size);
    if (hasMoved && start === 0) return true;
    this.#setOpen(blocks.slice(closed).flatMap((part, index) => this.#piecesOf(part, index === 0)));
    return false;
  }

  /** Closes complete items of a list or rows of a table. The tail starts with the block. */
  #closeParts(block: Block): boolean {
    if (block.type === 'list') {
      const last = block.items.at(-1)!;
      const lastStart = block.raw.length - last.raw.length;
      const count = block.items.length - (this.#tail.indexOf('\n', lastStart) === -1 ? 2 : 1);
      if (count <= 0) return false;
      const pieces = this.#piecesOf(block);
      const next = pieces[count];
      this.#close(pieces.slice(0, count));
      this.#tail = this.#tail.slice(block.items.slice(0, count).reduce((sum, item) => sum + item.raw.length, 0));
      if (next?.kind === 'item') this.#list = { group: next.group, number: next.number };
      return true;
    }
    if (block.type !== 'table' || block.rows.length === 0) return false;
    const isWhole = block.raw.endsWith('\n');
    const count = block.rows.length - (isWhole ? 0 : 1);
    if (count === 0) return false;
    const pieces = this.#piecesOf(block);
    this.#close(pieces.slice(0, count));
    const head = block.raw.slice(0, block.raw.indexOf('\n', block.raw.indexOf('\n') + 1) + 1);
    const size = isWhole ? block.raw.length : block.raw.lastIndexOf('\n') + 1;
    this.#tail = this.#tail.slice(size - (this.#table ? head.length : 0));
    const [first] = pieces;
    if (first?.kind === 'row') this.#table = { group: first.group, head };
    return true;
  }

  #cut(size: number): boolean {
    const head = this.#table?.head ?? '';
    const { at, isText } = windowCut(this.#tail.slice(0, size));
    const source = head + this.#tail.slice(0, at);
    const blocks = lexBlocks(source, { continued: this.#joined === 'text' });
    for (const [index, block] of blocks.entries()) {
      this.#close(this.#piecesOf(block, index === 0));
      this.#leaveContext();
    }
    this.#tail = this.#tail.slice(at);
    const last = blocks.findLast(({ type }) => type !== 'space');
    this.#joined = isText || last?.type === 'paragraph' ? 'text' : 'block';
    return true;
  }

  #advanceFence(fence: OpenFence): boolean {
    const cut = codeCut(this.#tail, fence);
    const piece = (text: string, closed: boolean): Piece => ({
      kind: 'code',
      text: stripIndent(text.endsWith('\n') ? text.slice(0, -1) : text, fence.indent),
      lang: fence.lang,
      title: fence.title || undefined,
      group: fence.group,
      first: fence.first,
      closed,
      midLine: fence.midLine,
    });
    if (cut.kind === 'open') {
      this.#setOpen([piece(this.#tail.slice(0, cut.textEnd), false)]);
      return false;
    }
    this.#close([piece(this.#tail.slice(0, cut.textEnd), cut.kind === 'closed')]);
    this.#tail = this.#tail.slice(cut.next);
    this.open = [];
    this.#fence = cut.kind === 'closed' ? undefined : { ...fence, first: false, midLine: cut.midLine };
    return true;
  }

  /** @param inContext the block can continue a split list, table or text */
  #piecesOf(block: Block, inContext = true): Piece[] {
    if (block.type === 'space') return [];
    if (block.type === 'list') {
      const context = inContext ? this.#list : undefined;
      const group = context?.group ?? ++this.#groups;
      const start = context?.number ?? block.start;
      return block.items.map((item, index) => ({
        kind: 'item',
        item,
        group,
        ordered: block.ordered,
        number: start + index,
        first: context === undefined && index === 0,
      }));
    }
    if (block.type === 'table') {
      const { head, align, rows } = block;
      const context = inContext ? this.#table : undefined;
      const group = context?.group ?? ++this.#groups;
      const all = rows.length === 0 && !context ? [undefined] : rows;
      return all.map((cells, index) => ({
        kind: 'row',
        head,
        align,
        cells,
        group,
        first: context === undefined && index === 0,
      }));
    }
    if (block.type === 'code' && block.fence) {
      const { lang, fence } = block;
      const piece = { text: '', lang, title: fence.title || undefined, group: this.#codes - 1 };
      return [{ kind: 'code', ...piece, first: true, closed: false, midLine: false }];
    }
    return [{ kind: 'block', block, joined: inContext && this.#joined !== 'no' }];
  }

  #setOpen(pieces: readonly Piece[]): void {
    this.open = this.folds.preview(pieces);
  }

  #close(pieces: readonly Piece[]): void {
    for (const piece of this.folds.take(pieces)) {
      if (isNote(piece)) this.#notes.add(piece.block.label);
      let segment = this.segments.at(-1)!;
      if (segment.size >= SEGMENT_SIZE && !staysTogether(segment, piece)) {
        segment = { pieces: [], size: 0 };
        this.segments.push(segment);
      }
      segment.pieces.push(piece);
      segment.size += weightOf(piece);
    }
  }

  #leaveContext(): void {
    this.#list = undefined;
    this.#table = undefined;
    this.#joined = 'no';
  }
}

type NotePiece = Extract<Piece, { kind: 'block' }> & { readonly block: Extract<Block, { type: 'note' }> };

export function isNote(piece: Piece): piece is NotePiece {
  return piece.kind === 'block' && piece.block.type === 'note';
}

function weightOf(piece: Piece): number {
  const hasHead = (piece.kind === 'code' || piece.kind === 'row') && piece.first;
  return PIECE_SIZE + sizeOf(piece) + (hasHead ? HEAD_SIZE : 0);
}

export function sizeOf(piece: Piece): number {
  switch (piece.kind) {
    case 'code':
      return piece.text.length;
    case 'row':
      return (piece.cells ?? piece.head).reduce((sum, cell) => sum + cell.length + PIECE_SIZE, 0);
    case 'item':
      return piece.item.raw.length;
    case 'fold':
      return piece.summary.length;
    case 'block':
      return piece.block.raw.length;
  }
}

function staysTogether(segment: Segment, piece: Piece): boolean {
  const last = segment.pieces.at(-1);
  if (piece.kind === 'row') return last?.kind === 'row' && last.group === piece.group && segment.size < TABLE_SIZE;
  return piece.kind === 'code' && piece.midLine && segment.size < LINE_SIZE;
}

/**
 * Returns whether enough of the block at `start` has arrived to be sure of its type: the first
 * line, the delimiter row of a table, all of a formula.
 */
function isBegun(block: Block, source: string, start: number): boolean {
  const end = source.indexOf('\n', start);
  if (end === -1) return false;
  if (block.type === 'math') return !block.isOpen && block.raw.endsWith('\n');
  return block.type !== 'table' || source.includes('\n', end + 1);
}
