// Communication with the extension host, and the state that the panel itself keeps over a reload.
import type { DraftView, FromWebview, PageMessage, SessionMessage, ToWebview } from '../../panel/contract';
import { strings } from '../text/strings';
import { announce, session } from './session';

interface VsCodeApi {
  postMessage(message: FromWebview): void;
  getState(): unknown;
  setState(state: UiState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

/** A message that was sent to the host and is not confirmed yet. */
export interface SentDraft {
  readonly clientId: string;
  readonly text: string;
  /** Of the draft that was sent. */
  readonly revision: number;
  /** Messages that follow it, each of which was sent before the host had the one before. */
  readonly next?: readonly string[];
}

export interface KeptDraft extends DraftView {
  readonly sent?: SentDraft;
  /** Messages that were sent to a host that is gone; they are no part of the text. */
  readonly lost?: readonly string[];
  /** Nothing was said in the session yet, so that the host may not know it. */
  readonly isNew?: true;
}

/** The value of a form control: its text, whether it is checked, or the selected values. */
export type FieldValue = string | boolean | readonly string[];
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** The state that survives a reload of the webview: only what the host does not have. */
export interface UiState {
  readonly key?: string;
  /** The draft of the displayed session, until the host has it. */
  readonly draft?: (KeptDraft & { readonly key: string }) | undefined;
  /**
   * The scroll position, if not at the end: the first visible item and how far its top is above the
   * top edge, px.
   */
  readonly anchor?: { readonly index: number; readonly offset: number } | undefined;
  /** What the user expanded or collapsed, by item id. */
  readonly expanded?: Readonly<Record<string, boolean>>;
  /** Values typed into open forms, by session and question. */
  readonly forms?: Readonly<Record<string, Readonly<Record<string, FieldValues>>>>;
}

const api = acquireVsCodeApi();
let state: UiState = readState(api.getState());

/** Posts a message about the page itself. */
export function postOfPage(message: PageMessage): void {
  api.postMessage(message);
}

/**
 * Posts a message about a session.
 * @param key by default that of the displayed session; null: none yet
 */
export function post(message: SessionMessage, key: string | null = session.key.peek() || null): void {
  api.postMessage({ ...message, key });
}

export function openLink(href: string): void {
  post({ type: 'openLink', href });
}

export function useCode(use: Omit<Extract<SessionMessage, { type: 'useCode' }>, 'type'>): void {
  post({ type: 'useCode', ...use });
}

export function copyText(text: string): void {
  post({ type: 'copy', text });
  announce(strings.copied, 'polite');
}

/** Calls `listener` with each message of the host. Call it only once. */
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

/** Maximum number of remembered expanded items. */
const MOST_EXPANDED = 300;

let expanded = new Map(Object.entries(state.expanded ?? {}));

/** Returns whether the user expanded or collapsed what has this id; undefined: neither. */
export function isExpanded(id: string): boolean | undefined {
  return expanded.get(id);
}

export function setExpanded(id: string, open: boolean): void {
  expanded.delete(id);
  expanded.set(id, open);
  saveUiState({ expanded: Object.fromEntries([...expanded].slice(-MOST_EXPANDED)) });
}

/** Forgets what belongs to the previous session. */
export function resetUiState(key: string, anchor: UiState['anchor']): void {
  expanded = new Map();
  saveUiState({ key, expanded: {}, anchor });
}

function readState(value: unknown): UiState {
  return typeof value === 'object' && value !== null ? (value as UiState) : {};
}
