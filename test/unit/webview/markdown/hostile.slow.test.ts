// The cost of hostile Markdown is linear in its length: counted in steps, not in milliseconds.
import assert from 'node:assert/strict';
import type { Block } from '../../../../src/markdown/blocks';
import { createBudget, lexInline, type Span } from '../../../../src/markdown/inlineLexer';
import { MarkdownDoc, type Piece, sizeOf } from '../../../../src/webview/markdown/markdownDoc';
import { fuzzText, PATTERNS, seeded } from '../../../support/hostile/patterns';

const SIZE = 30_000;
/** The open end is lexed for each chunk that arrives. */
const LONGEST_OPEN = 17_000;
const MOST_SPANS = 400;
const DEEPEST = 17;
/** Maximum steps per character of a piece. */
const MOST_STEPS = 40;

interface Work {
  steps: number;
  spans: number;
  depth: number;
}

function readSpans(spans: readonly Span[], work: Work, depth = 1): void {
  for (const span of spans) {
    if (typeof span === 'string') continue;
    work.spans++;
    work.depth = Math.max(work.depth, depth);
    if ('spans' in span) readSpans(span.spans, work, depth + 1);
  }
}

function readBlock(block: Block, read: (text: string) => void): void {
  if ('text' in block && block.type !== 'code') read(block.text);
  if (block.type === 'table') [block.head, ...block.rows].flat().forEach(read);
  if (block.type === 'quote' || block.type === 'note') for (const part of block.blocks) readBlock(part, read);
  if (block.type === 'list') for (const item of block.items) for (const part of item.blocks) readBlock(part, read);
}

function readPiece(piece: Piece): Work {
  const budget = createBudget();
  const { steps } = budget;
  const work = { steps: 0, spans: 0, depth: 0 };
  const read = (text: string): void => readSpans(lexInline(text, budget), work);
  if (piece.kind === 'block') readBlock(piece.block, read);
  else if (piece.kind === 'fold') read(piece.summary);
  else if (piece.kind === 'item') for (const block of piece.item.blocks) readBlock(block, read);
  else if (piece.kind === 'row') (piece.cells ?? piece.head).forEach(read);
  return { ...work, steps: steps - budget.steps };
}

function check(name: string, text: string): void {
  for (const size of [text.length, 700]) {
    const doc = new MarkdownDoc();
    for (let at = 0; at < text.length; at += size) {
      doc.append(text.slice(at, at + size));
      const open = doc.open.reduce((sum, piece) => sum + sizeOf(piece), 0);
      assert.ok(open < LONGEST_OPEN || text.includes('data:image/'), `${name}: ${open} characters are open`);
    }
    doc.settle();
    const pieces = [...doc.segments.flatMap((segment) => segment.pieces), ...doc.open];
    assert.ok(doc.segments.length <= text.length / 60 + 2, `${name}: ${doc.segments.length} segments`);
    for (const piece of pieces) {
      const { steps, spans, depth } = readPiece(piece);
      assert.ok(spans <= MOST_SPANS, `${name}: ${spans} spans in a piece`);
      assert.ok(depth <= DEEPEST, `${name}: ${depth} spans in each other`);
      assert.ok(steps <= MOST_STEPS * (sizeOf(piece) + 20), `${name}: ${steps} steps for ${sizeOf(piece)} characters`);
    }
  }
}

describe('webview/hostile Markdown', () => {
  it('takes steps linear in the length of each known pattern', () => {
    for (const { name, make } of PATTERNS) check(name, make(SIZE));
  });

  it('takes steps linear in the length of random marks', () => {
    for (let seed = 1; seed <= 150; seed++) check(`seed ${seed}`, fuzzText(seeded(seed), SIZE));
  });
});
