// Cuts Markdown that arrives in pieces into units that never change again, and the open rest. A closed unit is one block, one list item, one table row or a
// stretch of code: so the work per arriving piece is bounded by the open unit, however long the message or its one list is. Where the cuts fall depends on the
// text alone, never on how it was split on its way here. Pure: no DOM.
import type { Token, Tokens } from 'marked';
import { lexBlocks } from './blockLexer';
import { codeCut, fenceOf, longCut, type OpenFence, stripIndent } from './cuts';

/** A unit to draw. Pieces of one `group` share their list, table or code block as long as they stand in the same segment. */
export type Piece =
  | {
      readonly kind: 'block';
      readonly source: string /** It continues a paragraph too long to be one. */;
      readonly joined: boolean;
    }
  | {
      readonly kind: 'item';
      readonly source: string;
      readonly group: number;
      readonly ordered: boolean;
      readonly number: number;
      readonly first: boolean;
    }
  | {
      readonly kind: 'row';
      readonly head: string;
      readonly source: string;
      readonly group: number;
      readonly first: boolean;
    }
  | {
      readonly kind: 'code';
      readonly text: string;
      readonly lang: string;
      readonly group: number;
      readonly first: boolean;
      readonly closed: boolean;
    };

/** A stretch of closed pieces, the unit that is put into the page and taken out of it. */
export interface Segment {
  readonly pieces: Piece[];
  size: number;
}

/** Characters after which a segment is full. */
const SEGMENT_SIZE = 2_000;
/** An open unit longer than this is parsed again only when it has grown by an eighth. */
const LONG_TAIL = 8_192;

/** One message, growing at its end. */
export class MarkdownDoc {
  readonly #segments: Segment[] = [{ pieces: [], size: 0 }];
  #open: readonly Piece[] = [];
  #tail = '';
  #length = 0;
  #parsed = 0;
  #carry = '';
  #groups = 0;
  #joined = false;
  #fence: OpenFence | undefined;
  #list: { readonly group: number; readonly number: number } | undefined;
  #table: { readonly group: number; readonly head: string } | undefined;

  /** Characters taken so far. */
  get length(): number {
    return this.#length;
  }

  /** Full segments never change; the last one still grows. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** The open end, to be drawn anew after each `append`. */
  get open(): readonly Piece[] {
    return this.#open;
  }

  /** Text of the open end that is not in `open` yet; shown as it is. */
  get unparsed(): string {
    return this.#parsed < this.#tail.length ? this.#tail.slice(this.#parsed) : '';
  }

  append(text: string): void {
    this.#length += text.length;
    let added = this.#carry + text;
    this.#carry = added.endsWith('\r') ? '\r' : '';
    if (this.#carry) added = added.slice(0, -1);
    if (added.includes('\r')) added = added.replace(/\r\n?/g, '\n');
    this.#tail += added;
    const long = !this.#fence && this.#tail.length > LONG_TAIL;
    if (!long || this.#tail.length > this.#parsed * 1.125) this.settle();
  }

  /** Parses what `append` put off. */
  settle(): void {
    while (this.#fence ? this.#advanceFence(this.#fence) : this.#advance());
    this.#parsed = this.#tail.length;
  }

  /** @returns whether the state changed so that the tail must be looked at again */
  #advance(): boolean {
    const head = this.#table?.head ?? '';
    const source = head + this.#tail;
    const tokens = lexBlocks(source);
    const starts: number[] = [];
    let end = 0;
    for (const token of tokens) {
      starts.push(end);
      end += token.raw.length;
    }
    const lineEnds = (index: number): boolean => isBegun(source, starts[index]!);

    // A fence is cut line by line, without the lexer, from its first whole line on.
    const fenceAt = tokens.findIndex(
      (token, index) => fenceOf(token) !== undefined && source.includes('\n', starts[index]),
    );
    if (this.#cutLong(tokens.slice(0, fenceAt === -1 ? tokens.length : fenceAt), source, head.length)) return true;
    const solid = tokens.flatMap((token, index) => (token.type === 'space' ? [] : [index]));
    const last = solid.at(-1);
    if (last === undefined) {
      const keep = this.#list || this.#table ? 0 : this.#tail.lastIndexOf('\n') + 1;
      this.#tail = this.#tail.slice(keep);
      this.#open = [];
      return false;
    }
    // What stands before a block whose first line is whole is closed; an unfinished line could still join the block before it.
    const closed = fenceAt !== -1 ? fenceAt : (solid.findLast(lineEnds) ?? solid[0]!);
    for (let index = 0; index < closed; index++) {
      this.#close(this.#piecesOf(tokens[index]!));
      this.#leaveContext();
    }
    const start = starts[closed]!;
    const token = tokens[closed]!;

    if (fenceAt !== -1) {
      const line = source.indexOf('\n', start);
      this.#fence = { ...fenceOf(token)!, group: ++this.#groups, first: true, midLine: false };
      this.#tail = source.slice(line + 1);
      this.#leaveContext();
      return true;
    }
    if (start > 0) this.#tail = this.#tail.slice(start - head.length);
    const rest = tokens.slice(closed);
    if (token.type === 'list') return this.#openList(token as Tokens.List, rest);
    if (token.type === 'table') return this.#openTable(token as Tokens.Table, rest);
    this.#open = this.#openPieces(rest);
    return false;
  }

  /** Closes everything up to a cut in the first unit that is too long to be parsed again and again. @returns whether there is one */
  #cutLong(tokens: readonly Token[], source: string, head: number): boolean {
    let start = 0;
    for (const [index, token] of tokens.entries()) {
      const at = longCut(token, source, start);
      if (at) {
        for (const before of tokens.slice(0, index)) {
          this.#close(this.#piecesOf(before));
          this.#leaveContext();
        }
        const pieces = this.#piecesOf(token);
        const long = pieces[at.unit]!;
        this.#close(pieces.slice(0, at.unit));
        const text = source.slice(at.start, at.cut);
        this.#close([
          long.kind === 'item'
            ? { ...long, source: text }
            : { ...long, kind: 'block', source: text, joined: this.#joined },
        ]);
        this.#leaveContext();
        this.#joined = token.type === 'paragraph';
        this.#tail = this.#tail.slice(at.cut - head);
        return true;
      }
      start += token.raw.length;
    }
    return false;
  }

  /** What is drawn of blocks that are still open; only the first can continue a cut paragraph. */
  #openPieces(tokens: readonly Token[]): Piece[] {
    return tokens.flatMap((token, index) => this.#piecesOf(token, index === 0));
  }

  #openList(list: Tokens.List, rest: readonly Token[]): boolean {
    const pieces = this.#piecesOf(list);
    const items = list.items;
    const lastStart = items.slice(0, -1).reduce((sum, item) => sum + item.raw.length, 0);
    const whole = isBegun(this.#tail, lastStart);
    const count = items.length - (whole ? 1 : 2);
    if (count > 0) {
      const length = items.slice(0, count).reduce((sum, item) => sum + item.raw.length, 0);
      this.#close(pieces.slice(0, count));
      this.#tail = this.#tail.slice(length);
      const next = pieces[count];
      if (next?.kind === 'item') this.#list = { group: next.group, number: next.number };
    }
    const open = pieces.slice(Math.max(0, count));
    this.#open = [...open, ...rest.slice(1).flatMap((token) => this.#piecesOf(token, false))];
    return false;
  }

  #openTable(table: Tokens.Table, rest: readonly Token[]): boolean {
    const raw = table.raw;
    const headEnd = raw.indexOf('\n', raw.indexOf('\n') + 1) + 1;
    if (headEnd > 0) {
      const pieces = this.#piecesOf(table);
      const body = raw.slice(headEnd);
      const blank = body.startsWith('\n') ? 0 : body.indexOf('\n\n') + 1;
      const ended = body.startsWith('\n') || blank > 0;
      const bodyEnd = ended ? blank : body.lastIndexOf('\n') + 1;
      const rows = body
        .slice(0, bodyEnd)
        .split('\n')
        .filter((line) => line.trim() !== '').length;
      const group = groupOf(pieces[0]);
      if (group !== undefined && (rows > 0 || ended)) {
        this.#close(rows > 0 ? pieces.slice(0, rows) : this.#table ? [] : pieces);
        this.#tail = (this.#table ? this.#tail : this.#tail.slice(headEnd)).slice(bodyEnd);
        this.#table = ended ? undefined : { group, head: raw.slice(0, headEnd) };
        this.#open = [];
        if (ended) return this.#tail !== '';
        this.#open = [...pieces.slice(rows), ...rest.slice(1).flatMap((one) => this.#piecesOf(one, false))];
        return false;
      }
    }
    this.#open = this.#openPieces(rest);
    return false;
  }

  #advanceFence(fence: OpenFence): boolean {
    const cut = codeCut(this.#tail, fence);
    const piece = (text: string, closed: boolean): Piece => ({
      kind: 'code',
      text: stripIndent(text.endsWith('\n') ? text.slice(0, -1) : text, fence.indent),
      lang: fence.lang,
      group: fence.group,
      first: fence.first,
      closed,
    });
    if (cut.kind === 'open') {
      this.#open = [piece(this.#tail.slice(0, cut.textEnd), false)];
      return false;
    }
    this.#close([piece(this.#tail.slice(0, cut.textEnd), cut.kind === 'closed')]);
    this.#tail = this.#tail.slice(cut.next);
    this.#open = [];
    this.#fence = cut.kind === 'closed' ? undefined : { ...fence, first: false, midLine: cut.midLine };
    return true;
  }

  /** @param inContext the block may continue the list, table or paragraph that was cut before it */
  #piecesOf(token: Token, inContext = true): Piece[] {
    if (token.type === 'space') return [];
    if (token.type === 'list') {
      const list = token as Tokens.List;
      const context = inContext ? this.#list : undefined;
      const group = context?.group ?? ++this.#groups;
      const start = context?.number ?? (list.start === '' ? 1 : list.start);
      return list.items.map((item, index) => ({
        kind: 'item',
        source: item.raw,
        group,
        ordered: list.ordered,
        number: start + index,
        first: context === undefined && index === 0,
      }));
    }
    if (token.type === 'table') {
      const lines = token.raw.trimEnd().split('\n');
      const head = `${lines[0]}\n${lines[1]}\n`;
      const context = inContext ? this.#table : undefined;
      const group = context?.group ?? ++this.#groups;
      const rows = lines.slice(2).filter((line) => line.trim() !== '');
      if (rows.length === 0 && !context) return [{ kind: 'row', head, source: '', group, first: true }];
      return rows.map((source, index) => ({
        kind: 'row',
        head,
        source: source.trimEnd(),
        group,
        first: context === undefined && index === 0,
      }));
    }
    const fence = fenceOf(token);
    if (fence) {
      return [{ kind: 'code', text: '', lang: fence.lang, group: this.#groups + 1, first: true, closed: false }];
    }
    return [{ kind: 'block', source: token.raw, joined: inContext && this.#joined }];
  }

  #close(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      let segment = this.#segments.at(-1)!;
      if (segment.size >= SEGMENT_SIZE) {
        segment = { pieces: [], size: 0 };
        this.#segments.push(segment);
      }
      segment.pieces.push(piece);
      segment.size += piece.kind === 'code' ? piece.text.length : piece.source.length;
      if (piece.kind === 'block') this.#joined = false;
    }
  }

  #leaveContext(): void {
    this.#list = undefined;
    this.#table = undefined;
    this.#joined = false;
  }
}

/**
 * Whether what stands at `start` cannot become a part of the block before it any more: its first line is whole, and the unfinished line below does not look like
 * the rule of a table, which would make a table's head of it.
 */
function isBegun(source: string, start: number): boolean {
  const end = source.indexOf('\n', start);
  if (end === -1) return false;
  return source.indexOf('\n', end + 1) !== -1 || !/^[|:\- \t]+$/.test(source.slice(end + 1, end + 200));
}

function groupOf(piece: Piece | undefined): number | undefined {
  return piece && piece.kind !== 'block' ? piece.group : undefined;
}
