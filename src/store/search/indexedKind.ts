// What a kind of content tells the search index.
import type { SessionEvent } from '../../session/events/event';

export interface IndexedRow {
  readonly seq: number;
  readonly event: SessionEvent;
}

/** A kind of content to index. Each has its own progress in `sessions`. */
export interface IndexedKind {
  /** The column with the newest event that is indexed. */
  readonly progress: 'indexed_seq' | 'tools_seq';
  readonly types: string;
  /**
   * @param hasMore the session continues
   * @returns texts, and the row before which the next step begins
   */
  readonly textsOf: (
    rows: readonly IndexedRow[],
    hasMore: boolean,
  ) => { readonly texts: readonly IndexedText[]; readonly next?: number };
}

export interface IndexedText {
  readonly seq: number;
  readonly role: 'user' | 'agent' | 'tool';
  readonly text: string;
}
