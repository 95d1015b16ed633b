// Parts of a text that can be folded: what is between `<details>` and `</details>`. A fold contains no
// pieces; each piece knows the folds that it is in, so that a fold can be of any length. Pure: no DOM.
import type { Piece } from './markdownDoc';

/** Deeper folds are text. */
const MAX_DEPTH = 2;

export class Folds {
  /** The folds at the end of what is closed. */
  #within: readonly number[] = [];
  #count = 0;
  /** Whether each fold begins unfolded, in order. */
  readonly #begin: boolean[] = [];
  readonly #toggled = new Set<number>();

  /** Returns pieces that are closed now, with the folds that they are in. */
  take(pieces: readonly Piece[]): readonly Piece[] {
    const { placed, within, count } = this.#place(pieces);
    this.#within = within;
    this.#count = count;
    return placed;
  }

  /** Returns pieces that can still change, with the folds that they are in so far. */
  preview(pieces: readonly Piece[]): readonly Piece[] {
    return this.#place(pieces).placed;
  }

  isOpen(id: number): boolean {
    return this.#begin[id] !== this.#toggled.has(id);
  }

  /** Folds or unfolds. */
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
      if (block.type === 'fold' && within.length < MAX_DEPTH) {
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
