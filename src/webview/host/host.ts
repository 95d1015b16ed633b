// Messages between the panel and the extension host, and the panel's state that survives a reload.
import type { Begun, DraftView, FromWebview, PageMessage, SessionMessage, ToWebview } from '../../panel/contract';
import { strings } from '../text/strings';
import { announce, session } from './session';

export interface VsCodeApi {
  postMessage(message: FromWebview | Begun): void;
  getState(): unknown;
  setState(state: UiState): void;
}

declare global {
  /** What the user requested before the main script ran; `end` hands it over. */
  var parleyEarly: { readonly api: VsCodeApi; wantsSend: boolean; end(): void } | undefined;
}

/** A sent message that the host has not confirmed. */
export interface SentDraft {
  readonly clientId: string;
  readonly text: string;
  readonly revision: number;
  /** Messages that follow it, in order. */
  readonly next?: readonly string[];
}

export interface StoredDraft extends DraftView {
  readonly sent?: SentDraft;
  /** Messages sent to a host that exited. They are not part of the text. */
  readonly lost?: readonly string[];
  /** Nothing was sent in the session yet: the host may not have it. */
  readonly isNew?: true;
}

/** A text, a checked state, or the selected values. */
export type FieldValue = string | boolean | readonly string[];
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** State that survives a reload of the webview; only what the host does not have. */
export interface UiState {
  readonly key?: string;
  /** What the user typed, by the name of its store and session (storage.ts). */
  readonly kept?: Readonly<Record<string, object>>;
  /**
   * The scroll position, if not at the end: the first visible item, and how far its top is above
   * the top edge, px.
   */
  readonly anchor?: { readonly index: number; readonly offset: number } | undefined;
  readonly expanded?: Readonly<Record<string, boolean>>;
}

// Acquired by the first script: VS Code provides it only once.
const { api } = globalThis.parleyEarly as NonNullable<typeof globalThis.parleyEarly>;
let state = (api.getState() ?? {}) as UiState;

export function postOfPage(message: PageMessage): void {
  api.postMessage(message);
}

/** @param key of the session, by default the displayed one; null before there is one */
export function post(message: SessionMessage, key: string | null = session.key.peek() || null): void {
  api.postMessage({ ...message, key });
}

export function openLink(href: string): void {
  post({ type: 'openLink', href });
}

export function copyText(text: string): void {
  post({ type: 'copy', text });
  announce(strings.copied, 'polite');
}

/** Call it only once. Ignores messages of frames in the page, which draw content of agents. */
export function onMessage(receiver: { receive(message: ToWebview): void }): void {
  window.addEventListener('message', ({ data, origin }: MessageEvent<unknown>) => {
    if (origin !== window.origin) return;
    if (typeof data === 'object' && data !== null && 'type' in data) receiver.receive(data as ToWebview);
  });
}

export function uiState(): UiState {
  return state;
}

export function saveUiState(patch: UiState): void {
  state = { ...state, ...patch };
  api.setState(state);
}

const MAX_EXPANDED = 300;

let expanded = new Map(Object.entries(state.expanded ?? {}));

export function isExpanded(id: string): boolean | undefined {
  return expanded.get(id);
}

export function setExpanded(id: string, open: boolean): void {
  expanded.delete(id);
  expanded.set(id, open);
  saveUiState({ expanded: Object.fromEntries([...expanded].slice(-MAX_EXPANDED)) });
}

export function resetUiState(key: string, anchor: UiState['anchor']): void {
  expanded = new Map();
  saveUiState({ key, expanded: {}, anchor });
}
