// Draws pieces into one segment; adjacent items, rows and code parts share their container.

import { createBudget } from '../../markdown/inlineLexer';
import { type CodeBlock, continueLine, createCodeBlock, showComplete } from './codeBlock';
import type { MarkdownDoc, Piece } from './markdownDoc';
import { patchNodes } from './patchNodes';
import {
  createList,
  type MarkdownContext,
  renderBlock,
  renderFold,
  renderItem,
  renderRow,
  renderTable,
} from './renderBlocks';

interface Container {
  readonly group: number;
  readonly node: HTMLElement;
}

/** `settled`: open at the end of a complete text. */
type PieceState = 'closed' | 'open' | 'settled';

type OpenCode = Pick<CodeBlock, 'setText' | 'close'>;

export class PiecePainter {
  readonly #parent: HTMLElement;
  readonly #context: MarkdownContext;
  readonly #doc: MarkdownDoc;
  #container: Container | undefined;
  #tailNodes: ChildNode[] = [];
  #previousTail: readonly ChildNode[] = [];
  #newTail: ChildNode[] = [];
  #tailCode: { readonly block: OpenCode; readonly group: number; readonly head: string; text: string } | undefined;

  constructor(parent: HTMLElement, context: MarkdownContext, doc: MarkdownDoc) {
    this.#parent = parent;
    this.#context = context;
    this.#doc = doc;
  }

  /** Draws a closed piece. Call it between `giveUpTail` and `setTail`. */
  paint(piece: Piece): void {
    this.#newTail.push(...this.#draw(piece, 'closed').nodes);
  }

  /** Call it before redrawing the open end: parts of it may be closed. */
  giveUpTail(): void {
    this.#previousTail = [...this.#previousTail, ...this.#tailNodes];
    this.#tailNodes = [];
    this.#tailCode = undefined;
  }

  /** Draws the open end. Open code is only appended to; unchanged nodes are kept. */
  setTail(pieces: readonly Piece[], settled: boolean): void {
    const only = pieces.length === 1 ? pieces[0] : undefined;
    const code = this.#tailCode;
    const grows = only?.kind === 'code' && code?.group === only.group && code.head === headOf(only);
    if (grows && only.text.startsWith(code.text)) {
      code.text = only.text;
      code.block.setText(only.text);
      if (settled) {
        code.block.close();
        this.#showComplete(only.group);
      }
      return;
    }
    this.giveUpTail();
    const container = this.#container;
    for (const piece of pieces) {
      const drawn = this.#draw(piece, settled ? 'settled' : 'open');
      if (drawn.block && piece.kind === 'code') {
        this.#tailCode = { block: drawn.block, group: piece.group, head: headOf(piece), text: piece.text };
      }
      this.#tailNodes.push(...drawn.nodes);
    }
    const replacements = patchNodes(this.#previousTail, [...this.#newTail, ...this.#tailNodes]);
    this.#tailNodes = this.#tailNodes.map((node) => replacements.get(node) ?? node);
    this.#container = container && {
      ...container,
      node: (replacements.get(container.node) as HTMLElement) ?? container.node,
    };
    this.#previousTail = this.#newTail = [];
  }

  #draw(piece: Piece, state: PieceState): { readonly nodes: ChildNode[]; readonly block?: OpenCode } {
    switch (piece.kind) {
      case 'item':
        return { nodes: this.#drawItem(piece) };
      case 'row':
        return { nodes: this.#drawRow(piece) };
      case 'code': {
        const drawn = this.#drawCode(piece, state);
        if (state !== 'open') this.#showComplete(piece.group);
        return drawn;
      }
      case 'block': {
        const node = renderBlock(piece.block, this.#context, createBudget());
        if (!node) return { nodes: [] };
        if (piece.joined) node.classList.add('continued');
        return { nodes: this.#add(node, undefined, piece) };
      }
      case 'fold': {
        const node = renderFold(piece.summary, piece.id, this.#doc.folds.isOpen(piece.id), this.#context);
        return { nodes: this.#add(node, undefined, piece) };
      }
    }
  }

  #drawItem(piece: Piece & { kind: 'item' }): ChildNode[] {
    const node = renderItem(piece.item, this.#context, createBudget());
    if (this.#container?.group === piece.group) {
      this.#container.node.append(node);
      return [node];
    }
    const list = createList(piece.ordered, piece.number);
    if (!piece.first) list.classList.add('continued');
    list.append(node);
    return this.#add(list, { group: piece.group, node: list }, piece);
  }

  #drawRow(piece: Piece & { kind: 'row' }): ChildNode[] {
    const budget = createBudget();
    const row = piece.cells && renderRow(piece.cells, piece.align, this.#context, budget);
    if (this.#container?.group === piece.group) {
      if (row) this.#container.node.append(row);
      return row ? [row] : [];
    }
    const { wrapper, body } = renderTable(piece, this.#context, budget);
    if (row) body.append(row);
    if (!piece.first) wrapper.classList.add('continued');
    return this.#add(wrapper, { group: piece.group, node: body }, piece);
  }

  #drawCode(
    piece: Piece & { kind: 'code' },
    state: PieceState,
  ): { readonly nodes: ChildNode[]; readonly block?: OpenCode } {
    if (piece.text === '' && !piece.first) return { nodes: [] };
    const container = this.#container;
    const { group } = piece;
    const { wrapped } = this.#doc;
    const hasNext = state === 'closed' && !piece.closed;
    if (piece.midLine && container?.group === group) {
      const block = continueLine(container.node, piece.text, hasNext);
      return { nodes: [block.node], block };
    }
    const block = createCodeBlock(piece.lang, piece.text, this.#context, {
      open: state === 'open',
      continued: !piece.first,
      hasNext,
      title: piece.title || undefined,
      parts: {
        group,
        text: () => this.#wholeCode(group, piece.text),
        isComplete: () => this.#doc.isComplete(group),
        isWrapped: () => wrapped.has(group),
        wrap: (isWrapped) => {
          if (isWrapped) wrapped.add(group);
          else wrapped.delete(group);
          for (const part of this.#view.querySelectorAll(`[data-code="${group}"]`))
            part.classList.toggle('wrap', isWrapped);
        },
      },
    });
    return { nodes: this.#add(block.element, { group, node: block.code }, piece), block };
  }

  #add(node: HTMLElement, container: Container | undefined, piece: Piece): ChildNode[] {
    if (piece.folds) {
      node.classList.add('in-fold');
      node.dataset.folds = piece.folds.join(' ');
      node.hidden = this.#doc.folds.isHidden(piece);
    }
    this.#parent.append(node);
    this.#container = container;
    return [node];
  }

  get #view(): Element {
    return this.#parent.parentElement ?? this.#parent;
  }

  #showComplete(group: number): void {
    if (this.#doc.isComplete(group)) showComplete(this.#view, group);
  }

  #wholeCode(group: number, fallback: string): string {
    const all = [...this.#doc.segments.flatMap((segment) => segment.pieces), ...this.#doc.open];
    const parts = all.flatMap((piece) => (piece.kind === 'code' && piece.group === group ? [piece.text] : []));
    return parts.length > 0 ? parts.join('\n') : fallback;
  }
}

function headOf({ lang, title }: Piece & { kind: 'code' }): string {
  return `${lang} ${title ?? ''}`;
}
