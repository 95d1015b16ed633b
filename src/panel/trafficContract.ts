// The contract between the extension and the traffic inspector, a page of its own. The page gets
// rows without contents; the content of one row is sent when it is selected, without secrets.

/** Who wrote it: the agent (`in`), Parley (`out`), the agent's stderr, or no message at all. */
export type TrafficDirection = 'in' | 'out' | 'stderr' | 'noise';

export interface TrafficRow {
  /** Grows from row to row. */
  readonly seq: number;
  /** ms since 1970. */
  readonly at: number;
  /** The key of the session. */
  readonly key: string;
  readonly direction: TrafficDirection;
  readonly kind: 'request' | 'response' | 'notification' | 'text';
  /** The method, also of a response whose request is known; the beginning of a text. */
  readonly method: string;
  readonly id?: string;
  /** Bytes on the wire; approximate for a message that was too long to be kept. */
  readonly size: number;
  /** Of a response: milliseconds since its request. */
  readonly ms?: number;
  /** Of a response: the `seq` of its request. */
  readonly request?: number;
  readonly isError?: true;
}

export interface TrafficSession {
  readonly key: string;
  readonly label: string;
}

/** A point in the life of a prompt or of a turn. */
export type TurnMarkKind =
  | 'sent'
  | 'receipt'
  | 'echo'
  | 'output'
  | 'barrier'
  | 'answer'
  | 'idle'
  | 'cancel'
  | 'settled';

/** After its turn had settled; of another prompt or client; once more. */
export type TurnMarkNote = 'late' | 'foreign' | 'doubled';

export interface LaneMark {
  readonly kind: TurnMarkKind;
  /** ms since 1970. */
  readonly at: number;
  /** Milliseconds since the mark before; 0 of the first one. */
  readonly ms: number;
  /** The row of the message that shows it; absent if time alone does. */
  readonly seq?: number;
  readonly note?: TurnMarkNote;
  /** How often it came in a row, if more than once; the rest is of the first one. */
  readonly count?: number;
}

/** What happened to one prompt, or in a turn without one, in order. */
export interface TurnLane {
  /** Grows from lane to lane. */
  readonly id: number;
  /** The key of the session. */
  readonly key: string;
  /** The agent began the turn by itself, or nothing shows which prompt it was. */
  readonly isOwn?: true;
  /** The JSON-RPC id of the prompt. */
  readonly requestId?: string;
  readonly marks: readonly LaneMark[];
  /** Further marks that are left out. */
  readonly more?: number;
}

/** The most rows in one message. */
export const MAX_ROWS = 500;

/** The most characters of a payload that are sent. */
export const MAX_PAYLOAD = 300_000;

export type ToTraffic =
  /**
   * Rows to append. `first` is the oldest row that is still kept: drop those before it. `found`:
   * those of the new rows that have the text that was searched for last.
   */
  | {
      readonly type: 'rows';
      readonly first: number;
      readonly rows: readonly TrafficRow[];
      readonly found: readonly number[];
    }
  /** Lanes that are new or have changed. `first`: drop those before it. */
  | { readonly type: 'lanes'; readonly first: number; readonly lanes: readonly TurnLane[] }
  /** The sessions that rows name. */
  | { readonly type: 'sessions'; readonly sessions: readonly TrafficSession[] }
  /** The content of a row; null: the row is no longer kept. `cut`: characters that are left out. */
  | { readonly type: 'payload'; readonly seq: number; readonly text: string | null; readonly cut: number }
  /** The rows so far that have the text of a `find` (its `id`). */
  | { readonly type: 'found'; readonly id: number; readonly seqs: readonly number[] };

export type FromTraffic =
  | { readonly type: 'hello' }
  /** The rows of a message are drawn. */
  | { readonly type: 'ack' }
  | { readonly type: 'pause'; readonly isPaused: boolean }
  | { readonly type: 'clear' }
  | { readonly type: 'select'; readonly seq: number }
  /** Looks for a text in contents; an empty one ends the search. */
  | { readonly type: 'find'; readonly id: number; readonly text: string }
  | { readonly type: 'copy'; readonly seq: number }
  /** Saves a recording of one session; null: the user is asked which. */
  | { readonly type: 'export'; readonly key: string | null }
  | { readonly type: 'openRecording' }
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };
