// What a kind of content tells the search index.
import type { SessionEvent } from '../../session/events/event';

export interface IndexedRow {
  readonly seq: number;
  readonly event: SessionEvent;
}

export interface IndexedKind {
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
