// The contract between the extension and the traffic inspector, a page of its own. The page gets
// rows without contents; the content of one row is sent when it is selected, without secrets.

/** From the agent, to the agent, stderr, or no message. */
export type TrafficDirection = 'in' | 'out' | 'stderr' | 'noise';

export interface TrafficRow {
  /** Ascending. */
  readonly seq: number;
  /** ms since 1970. */
  readonly at: number;
  readonly key: string;
  readonly direction: TrafficDirection;
  readonly kind: 'request' | 'response' | 'notification' | 'text';
  /** The method (of a response: of its request), or the beginning of a text. */
  readonly method: string;
  readonly id?: string;
  /** Bytes; approximate for a message that was too long to keep. */
  readonly size: number;
  /** Since its request. */
  readonly ms?: number;
  /** The `seq` of its request. */
  readonly request?: number;
  readonly isError?: true;
}

export interface TrafficSession {
  readonly key: string;
  readonly label: string;
}

/** A point in a prompt or turn. */
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

/** After the turn had settled; of another prompt or client; repeated. */
export type TurnMarkNote = 'late' | 'foreign' | 'doubled';

export interface LaneMark {
  readonly kind: TurnMarkKind;
  /** ms since 1970. */
  readonly at: number;
  /** Since the mark before. */
  readonly ms: number;
  /** Absent if time alone shows it. */
  readonly seq?: number;
  readonly note?: TurnMarkNote;
  /** Number of repetitions, if more than one. */
  readonly count?: number;
}

/** One prompt, or a turn without one. */
export interface TurnLane {
  /** Ascending. */
  readonly id: number;
  readonly key: string;
  /** The agent began the turn, or its prompt is unknown. */
  readonly isOwn?: true;
  readonly requestId?: string;
  readonly marks: readonly LaneMark[];
  /** Marks left out. */
  readonly more?: number;
}

export const MAX_ROWS = 500;

export const MAX_PAYLOAD = 300_000;

export type ToTraffic =
  /**
   * Rows to append. `first`: the oldest row that is kept. `found`: new rows with the text last
   * searched for.
   */
  | {
      readonly type: 'rows';
      readonly first: number;
      readonly rows: readonly TrafficRow[];
      readonly found: readonly number[];
    }
  /** New or changed lanes. `first`: the oldest that is kept. */
  | { readonly type: 'lanes'; readonly first: number; readonly lanes: readonly TurnLane[] }
  | { readonly type: 'sessions'; readonly sessions: readonly TrafficSession[] }
  /** Null: no longer kept. `cut`: characters left out. */
  | { readonly type: 'payload'; readonly seq: number; readonly text: string | null; readonly cut: number }
  /** The rows that match a `find`. */
  | { readonly type: 'found'; readonly id: number; readonly seqs: readonly number[] };

export type FromTraffic =
  | { readonly type: 'hello' }
  /** Rows are drawn. */
  | { readonly type: 'ack' }
  | { readonly type: 'pause'; readonly isPaused: boolean }
  | { readonly type: 'clear' }
  | { readonly type: 'select'; readonly seq: number }
  /** An empty text ends the search. */
  | { readonly type: 'find'; readonly id: number; readonly text: string }
  | { readonly type: 'copy'; readonly seq: number }
  /** Null: the user is asked which session. */
  | { readonly type: 'export'; readonly key: string | null }
  | { readonly type: 'openRecording' }
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };
