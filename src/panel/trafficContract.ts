// The contract with the traffic inspector page: rows, and on selection a content without secrets.

/** From the agent, to the agent, stderr, or not a message. */
export type TrafficDirection = 'in' | 'out' | 'stderr' | 'noise';

export interface TrafficRow {
  readonly seq: number;
  readonly at: number;
  readonly key: string;
  readonly direction: TrafficDirection;
  readonly kind: 'request' | 'response' | 'notification' | 'text';
  /** The method (of a response: of its request), or the beginning of a text. */
  readonly method: string;
  readonly id?: string;
  /** Bytes; approximate for messages too long to keep. */
  readonly size: number;
  /** Since the request. */
  readonly ms?: number;
  /** `seq` of the request. */
  readonly request?: number;
  readonly isError?: true;
}

export interface TrafficSession {
  readonly key: string;
  readonly label: string;
}

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
  /** Since the previous mark. */
  readonly ms: number;
  /** Absent if derived from time alone. */
  readonly seq?: number;
  readonly note?: TurnMarkNote;
  /** Number of repetitions, if more than one. */
  readonly count?: number;
}

/** A prompt, or a turn without one. */
export interface TurnLane {
  readonly id: number;
  readonly key: string;
  /** The agent started the turn, or its prompt is unknown. */
  readonly isOwn?: true;
  readonly requestId?: string;
  readonly marks: readonly LaneMark[];
  /** Number of marks left out. */
  readonly more?: number;
}

export const MAX_ROWS = 500;

export const MAX_PAYLOAD = 300_000;

export type ToTraffic =
  /** Appends rows. `first`: the oldest retained row. `found`: new matches of the search. */
  | {
      readonly type: 'rows';
      readonly first: number;
      readonly rows: readonly TrafficRow[];
      readonly found: readonly number[];
    }
  /** New or changed lanes. `first`: the oldest retained one. */
  | { readonly type: 'lanes'; readonly first: number; readonly lanes: readonly TurnLane[] }
  | { readonly type: 'sessions'; readonly sessions: readonly TrafficSession[] }
  /** Null: no longer retained. `cut`: characters left out. */
  | { readonly type: 'payload'; readonly seq: number; readonly text: string | null; readonly cut: number }
  | { readonly type: 'found'; readonly id: number; readonly seqs: readonly number[] };

export type FromTraffic =
  | { readonly type: 'hello' }
  | { readonly type: 'ack' }
  | { readonly type: 'pause'; readonly isPaused: boolean }
  | { readonly type: 'clear' }
  | { readonly type: 'select'; readonly seq: number }
  /** An empty text ends the search. */
  | { readonly type: 'find'; readonly id: number; readonly text: string }
  | { readonly type: 'copy'; readonly seq: number }
  /** Null: the user is asked for the session. */
  | { readonly type: 'export'; readonly key: string | null }
  | { readonly type: 'openRecording' }
  | { readonly type: 'problem'; readonly kind: 'error' | 'csp'; readonly text: string };
