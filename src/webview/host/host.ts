// The wire to the extension host: one listener for what it says, `post` for what we say, and the little that the panel remembers by itself.
import type { DraftView, FromWebview, PageMessage, SessionMessage, ToWebview } from '../../panel/contract';
import { session } from './session';

interface VsCodeApi {
  postMessage(message: FromWebview): void;
  getState(): unknown;
  setState(state: UiState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** A message that was given to the host, which has not said yet that it has it. */
export interface SentDraft {
  readonly clientId: string;
  readonly text: string;
  /** Of the draft that was sent. */
  readonly revision: number;
}

export interface KeptDraft extends DraftView {
  readonly sent?: SentDraft;
}

/** What a control of a form holds: its text, whether it is on, or the values that are chosen. */
export type FieldValue = string | boolean | readonly string[];
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** What survives a reload of the webview: only what the host does not know. */
export interface UiState {
  readonly key?: string;
  /** The draft of the session that is shown, until the host has it. */
  readonly draft?: (KeptDraft & { readonly key: string }) | undefined;
  /** Where the reader was, when not at the end: the first visible item and how far it was above the edge, px. */
  readonly anchor?: { readonly index: number; readonly offset: number } | undefined;
  /** What was opened or closed by hand, by item id. */
  readonly expanded?: Readonly<Record<string, boolean>>;
  /** What is typed into forms that are open, by session and question. */
  readonly forms?: Readonly<Record<string, Readonly<Record<string, FieldValues>>>>;
}

const api = acquireVsCodeApi();
let state: UiState = readState(api.getState());

/** Says something of the page itself. */
export function postOfPage(message: PageMessage): void {
  api.postMessage(message);
}

/** Asks something of the host about a session. @param key the one that is shown, where it is not given; null: none yet */
export function post(message: SessionMessage, key: string | null = session.key.peek() || null): void {
  api.postMessage({ ...message, key });
}

/** Calls `listener` with each message of the host. There must be only one. */
export function onMessage(listener: (message: ToWebview) => void): void {
  window.addEventListener('message', (event: MessageEvent<unknown>) => {
    const { data } = event;
    if (typeof data === 'object' && data !== null && 'type' in data) listener(data as ToWebview);
  });
}

export function uiState(): UiState {
  return state;
}

export function saveUiState(patch: UiState): void {
  state = { ...state, ...patch };
  api.setState(state);
}

function readState(value: unknown): UiState {
  return typeof value === 'object' && value !== null ? (value as UiState) : {};
}
