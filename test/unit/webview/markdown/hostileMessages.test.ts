// Hostile messages of an imported session: kept as they are, and drawn in bounded steps.
import assert from 'node:assert/strict';
import { openHistory } from '../../../../src/client/sharing/openedHistory';
import type { Block } from '../../../../src/markdown/blocks';
import { lexInline, type Span } from '../../../../src/markdown/inlineLexer';
import type { TimedEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { MarkdownDoc, type Piece } from '../../../../src/webview/markdown/markdownDoc';
import { MIX, QUOTES } from '../../../support/hostile/nested';
import { closeResolvers, resolver } from '../../distributed/fetch/resolvers';
import { serve } from '../../distributed/loopback';

/**
 * Opens a session with one message of this text.
 * @returns the message in the transcript
 */
async function opened(text: string): Promise<string> {
  const server = await serve((_request, response) =>
    response.end(JSON.stringify({ role: 'agent/stranger', parts: [{ content: text }] })),
  );
  const model = new SessionModel();
  const note = (events: readonly TimedEvent[]): void => {
    for (const { at, event } of events) model.apply(event, at);
  };
  const descriptor = { id: 'session-123', history: [`${server.origin}/1`] };
  const options = { place: { model, note }, resolver: resolver(), now: () => 1, head: [] };
  await openHistory(descriptor, options, new AbortController().signal);
  const [entry] = model.state.entries;
  assert.ok(entry?.kind === 'agent');
  return entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function blocksOf(piece: Piece): readonly Block[] {
  if (piece.kind === 'block') return [piece.block];
  return piece.kind === 'item' ? piece.item.blocks : [];
}

/** Counts blocks within blocks, and the texts at their ends. */
function walk(blocks: readonly Block[], depth: number, seen: { depth: number; blocks: number; spans: number }): void {
  for (const block of blocks) {
    seen.blocks++;
    seen.depth = Math.max(seen.depth, depth);
    if (block.type === 'quote') walk(block.blocks, depth + 1, seen);
    if (block.type === 'list') for (const item of block.items) walk(item.blocks, depth + 1, seen);
    if (block.type === 'paragraph') seen.spans += countSpans(lexInline(block.text));
  }
}

function countSpans(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => {
    if (typeof span === 'string') return sum;
    return sum + 1 + ('spans' in span ? countSpans(span.spans) : 0);
  }, 0);
}

describe('a hostile message of an imported session', () => {
  afterEach(closeResolvers);

  for (const [name, text] of [
    ['1 KB of quotes in quotes', QUOTES],
    ['55 KB of quotes, lists, brackets and emphasis', MIX],
  ] as const) {
    it(`is kept as it is and drawn with bounded nesting: ${name}`, async () => {
      const kept = await opened(text);
      assert.equal(kept, text);
      const doc = new MarkdownDoc();
      doc.append(kept);
      doc.settle();
      const pieces = [...doc.segments.flatMap((segment) => segment.pieces), ...doc.open];
      const seen = { depth: 0, blocks: 0, spans: 0 };
      for (const piece of pieces) walk(blocksOf(piece), 1, seen);
      assert.ok(pieces.length <= 20, `${pieces.length} pieces`);
      assert.ok(seen.depth <= 13, `${seen.depth} levels`);
      assert.ok(seen.blocks <= 300, `${seen.blocks} blocks`);
      assert.ok(seen.spans <= 4000, `${seen.spans} spans`);
    });
  }
});
