// The draft and the messages being sent. The host owns the draft; the page keeps typed text until
// the host has it. Text is only removed from the composer once the host has accepted it.
import { signal } from '@preact/signals';
import { type DraftView, MAX_TEXT, type SendNow } from '../../panel/contract';
import { post, type SentDraft, type StoredDraft } from '../host/host';
import { hasItems, session } from '../host/session';
import { isRecord, SessionStore, type Stored } from '../host/storage';
import { strings } from '../text/strings';
import { mentionsIn } from './mention';
import { followMentions } from './mentionChips';

const POST_INTERVAL_MS = 300;
/**
 * Longer texts are only stored when sent to the host: storing them on each key press is too slow.
 */
const LONG_TEXT = 50_000;
/** Inserting a line break takes the browser milliseconds. */
const MAX_UNDOABLE_LINES = 200;

interface Pending extends SentDraft {
  /** Session of the draft; null before the first session is shown. */
  readonly key: string | null;
  /** Text in the field when the user switched sessions. */
  readonly left?: string;
}

const drafts = new SessionStore({ name: 'draft', maxSessions: 20, read: readDraft });

class Composer {
  readonly text = signal('');
  readonly pending = signal<Pending | undefined>(undefined);
  readonly problem = signal('');
  readonly #pendingByClientId = new Map<string, Pending>();
  readonly #lastSent = new Map<string, string>();
  #field: HTMLTextAreaElement | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sentTexts: () => Iterable<string> = () => [];
  #recalled: { readonly index: number; readonly text: string } | undefined;
  /** Messages sent while another was being sent; they follow it in the field. */
  #followUps: readonly { readonly text: string; readonly now: SendNow | undefined }[] = [];
  /** Messages sent to a host that exited, until the new host has them. */
  #lostMessages: readonly string[] = [];
  /** Sessions of resent {@link #lostMessages}, by message id. */
  readonly #resentSessions = new Map<string, string>();
  #key: string | null = null;
  /** Increases with each change, here and in the host. */
  #revision = 0;
  #hostRevision = 0;

  constructor() {
    window.addEventListener('blur', () => this.flush());
    window.addEventListener('pagehide', () => this.flush());
    document.addEventListener('visibilitychange', () => this.flush());
  }

  attach(field: HTMLTextAreaElement | null): void {
    this.#field = field;
    if (!field || globalThis.parleyEarly) return;
    if (field.value !== this.text.peek()) field.value = this.text.peek();
  }

  /**
   * Takes over what was typed and sent before this script ran (early.ts). Call it after the host
   * was greeted.
   */
  takeOver(field: HTMLTextAreaElement | null): void {
    const early = globalThis.parleyEarly;
    if (!early) return;
    globalThis.parleyEarly = undefined;
    early.end();
    if (field?.value) this.typed(field.value);
    if (early.wantsSend) this.send(false);
  }

  /** @param texts messages of the session, newest first */
  recallFrom(texts: () => Iterable<string>): void {
    this.#sentTexts = texts;
  }

  typed(text: string): void {
    followMentions(this.text.peek(), text);
    this.text.value = text;
    if (this.problem.peek()) this.problem.value = '';
    this.#changed();
  }

  set(text: string): void {
    if (this.#replaceRange(0, this.text.peek().length, text)) return;
    followMentions(this.text.peek(), text);
    this.#setText(text);
    this.#changed();
  }

  /**
   * Shows a session, possibly the same one.
   * @param draft the host's draft
   */
  show(key: string, draft: DraftView): void {
    if (key === this.#key) {
      this.#reconcile(draft);
      return;
    }
    this.flush();
    const before = { key: this.#key, text: this.text.peek(), pending: this.pending.peek() };
    if (before.key !== null && before.pending)
      this.#pendingByClientId.set(before.pending.clientId, { ...before.pending, left: before.text });
    this.#key = key;
    this.#recalled = undefined;
    this.#followUps = this.#lostMessages = [];
    this.problem.value = '';
    const pending = [...this.#pendingByClientId.values()].find((sent) => sent.key === key);
    if (pending) this.#pendingByClientId.delete(pending.clientId);
    const left = pending?.left !== undefined && { text: pending.left, revision: pending.revision + 1 };
    this.#begin(draft, storedDraft(key) ?? (left || undefined), pending);
    if (before.key !== null) return;
    this.#addEarly(before.text, before.pending);
    for (const [other, stored] of draftsOfNew(key)) this.#resend(other, stored, unsentTexts(stored));
  }

  changedElsewhere(key: string, draft: DraftView): void {
    if (key === this.#key) this.#reconcile(draft);
    else if ((storedDraft(key)?.revision ?? 0) <= draft.revision) drafts.set(key);
  }

  /**
   * @param allowEmpty attachments without text can be sent
   * @param now how to send during a running turn; by default the message is queued
   */
  send(allowEmpty: boolean, now?: SendNow): void {
    const text = this.text.peek();
    if (text.trim() === '' && !allowEmpty) return;
    const pending = this.pending.peek();
    if (pending && text.startsWith(pending.text)) {
      // Text after a message that is still being sent is sent once the host has accepted that one.
      const rest = withoutSent(text, ...this.#textsBeingSent());
      if (rest === '') return;
      this.#followUps = [...this.#followUps, { text: rest, now }];
      this.#storeDraft();
      return;
    }
    this.#followUps = [];
    if (text.length > MAX_TEXT) {
      this.problem.value = strings.messageTooLong(text.length, MAX_TEXT);
      return;
    }
    this.#send(text, now);
  }

  #send(text: string, now: SendNow | undefined): void {
    const sent: SentDraft = { clientId: crypto.randomUUID(), text, revision: this.#revision };
    this.pending.value = { ...sent, key: this.#key };
    this.problem.value = '';
    this.#storeDraft();
    post({ type: 'send', ...sent, now }, this.#key);
  }

  #textsBeingSent(): readonly string[] {
    const pending = this.pending.peek();
    return pending ? [pending.text, ...this.#followUps.map(({ text }) => text)] : [];
  }

  /**
   * Handles an accepted message.
   * @param revision of the host's remaining draft
   */
  accepted(clientId: string, revision: number): void {
    const returned = this.#resentSessions.get(clientId);
    if (returned !== undefined) {
      this.#resentSessions.delete(clientId);
      if (returned !== this.#key) drafts.set(returned);
      else this.#resent(revision);
      return;
    }
    const elsewhere = this.#pendingByClientId.get(clientId);
    if (elsewhere) {
      this.#pendingByClientId.delete(clientId);
      if (elsewhere.key !== null) this.#lastSent.set(elsewhere.key, elsewhere.text);
      this.#postDraftOf(elsewhere, withoutSent(elsewhere.left ?? '', elsewhere.text), revision);
      return;
    }
    const pending = this.pending.peek();
    if (pending?.clientId !== clientId) return;
    this.pending.value = undefined;
    if (this.#key !== null) this.#lastSent.set(this.#key, pending.text);
    this.#hostRevision = revision;
    const rest = withoutSent(this.text.peek(), pending.text);
    if (rest !== this.text.peek()) this.#setText(rest);
    this.#revision = Math.max(this.#revision, revision);
    const [next, ...others] = this.#followUps;
    this.#followUps = [];
    if (rest === '') this.#draftSynced(revision);
    else this.#changed();
    if (!next || !rest.startsWith(next.text)) return;
    this.#send(next.text, next.now);
    this.#followUps = others;
    this.#storeDraft();
  }

  /** @param clientId of the rejected message, if any */
  rejected(clientId: string | undefined, reason: string): void {
    if (clientId !== undefined && this.#resentSessions.delete(clientId)) return; // kept, and resent later
    if (clientId !== undefined) {
      const elsewhere = this.#pendingByClientId.get(clientId);
      if (elsewhere) {
        this.#pendingByClientId.delete(clientId);
        this.#postDraftOf(elsewhere, elsewhere.left ?? '', elsewhere.revision);
        return;
      }
      if (this.pending.peek()?.clientId !== clientId) return;
      this.pending.value = undefined;
      this.#followUps = [];
      this.#storeDraft();
      this.flush();
    }
    this.problem.value = reason;
  }

  /** Inserts text at the caret, with spaces around it as needed. */
  insert(text: string): void {
    const field = this.#field;
    const current = this.text.peek();
    const start = field?.selectionStart ?? current.length;
    const end = field?.selectionEnd ?? current.length;
    const before = current.slice(0, start);
    const gap = before === '' || /\s$/.test(before) ? '' : ' ';
    this.focus();
    if (this.#replaceRange(start, end, gap + text)) return;
    this.set(before + gap + text + current.slice(end));
    const caret = start + gap.length + text.length;
    field?.setSelectionRange(caret, caret);
  }

  replace(start: number, end: number, text: string): void {
    this.focus();
    if (this.#replaceRange(start, end, text)) return;
    const old = this.text.peek();
    this.set(old.slice(0, start) + text + old.slice(end));
    this.#field?.setSelectionRange(start + text.length, start + text.length);
  }

  /**
   * Removes the mentions of an attachment, which detaches it.
   * @returns whether there were any
   */
  removeMentions(label: string): boolean {
    const labels = session.attachments.peek().map((attachment) => attachment.label);
    const find = (): number | undefined => mentionsIn(this.text.peek(), labels).get(label);
    const first = find();
    for (let start = first; start !== undefined; start = find()) {
      const end = start + label.length + 1;
      this.replace(start, this.text.peek()[end] === ' ' ? end + 1 : end, '');
    }
    return first !== undefined;
  }

  append(text: string): void {
    this.set(joined(this.text.peek(), text));
  }

  /**
   * Recalls sent messages if the field is empty or shows a recalled one.
   * @returns whether there was a message
   */
  recall(direction: 'earlier' | 'later'): boolean {
    const text = this.text.peek();
    const from = this.#recalled?.text === text ? this.#recalled.index : undefined;
    if (from === undefined && (text !== '' || direction === 'later')) return false;
    const index = (from ?? -1) + (direction === 'earlier' ? 1 : -1);
    const recalled = index < 0 ? '' : this.#sent(index);
    if (recalled === undefined) return false;
    this.set(recalled);
    this.#recalled = index < 0 ? undefined : { index, text: recalled };
    return true;
  }

  /** Returns the sent message at `index` from the newest. */
  #sent(index: number): string | undefined {
    // The transcript may lack the last sent message.
    const last = this.#key === null ? undefined : this.#lastSent.get(this.#key);
    let remaining = index;
    let previous = last;
    if (last !== undefined && remaining-- === 0) return last;
    for (const text of this.#sentTexts()) {
      if (text === '' || text === previous) continue;
      previous = text;
      if (remaining-- === 0) return text;
    }
    return undefined;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.text.peek();
    if (this.#revision <= this.#hostRevision || this.#key === null) return;
    this.#storeDraft();
    // A message being sent is not a draft unless the host says so.
    if (this.pending.peek() || text.length > MAX_TEXT) return;
    this.#hostRevision = this.#revision;
    post({ type: 'draft', text, revision: this.#revision }, this.#key);
  }

  focus(): void {
    this.#field?.focus();
  }

  #changed(): void {
    this.#revision += 1;
    if (this.text.peek().length <= LONG_TEXT) this.#storeDraft();
    this.#timer ??= setTimeout(() => this.flush(), POST_INTERVAL_MS);
  }

  /**
   * Replaces a range like typing does, so that it can be undone.
   * @returns false if the field is not focused, as another field would be edited, or if the text is
   * so long that this is slow
   */
  #replaceRange(start: number, end: number, text: string): boolean {
    const field = this.#field;
    if (!field || field !== document.activeElement || this.text.peek().length + text.length > LONG_TEXT) return false;
    if (text.split('\n', MAX_UNDOABLE_LINES + 1).length > MAX_UNDOABLE_LINES) return false;
    field.setSelectionRange(start, end);
    // With an empty selection, 'delete' removes the character before the caret.
    if (text === '' && start === end) return true;
    return document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
  }

  #setText(text: string): void {
    this.text.value = text;
    if (!this.#field) return;
    this.#field.value = text;
    this.#field.setSelectionRange(text.length, text.length);
  }

  #storeDraft(): void {
    if (this.#key === null) return;
    const { clientId, text, revision } = this.pending.peek() ?? {};
    const sent = clientId !== undefined && text !== undefined && revision !== undefined;
    const next = this.#followUps.map((followUp) => followUp.text);
    drafts.set(this.#key, {
      text: this.text.peek(),
      revision: this.#revision,
      sent: sent ? { clientId, text, revision, next } : undefined,
      lost: this.#lostMessages.length > 0 ? this.#lostMessages : undefined,
      isNew: !hasItems.peek() || undefined,
    });
  }

  #draftSynced(revision: number): void {
    this.#revision = this.#hostRevision = revision;
    if (this.#key !== null) drafts.set(this.#key);
  }

  /**
   * @param copy the page's copy of the draft
   * @param pending the message being sent
   */
  #begin(host: DraftView, copy: StoredDraft | undefined, pending: Pending | undefined): void {
    this.pending.value = pending;
    const sent = pending ? undefined : copy?.sent;
    const isTaken = sent !== undefined && host.revision > sent.revision;
    const rest = isTaken && copy ? withoutSent(copy.text, sent.text) : undefined;
    const unsent = copy && !pending && host.revision <= copy.revision ? unsentTexts(copy, isTaken) : undefined;
    if (copy && unsent && unsent.messages.length > 0) {
      this.#setText(unsent.text);
      this.#hostRevision = host.revision;
      this.#revision = copy.revision;
      this.#lostMessages = unsent.messages;
      this.#resend(this.#key ?? '', copy, unsent);
      return;
    }
    // The host lacks what was typed while a message was being sent.
    const text =
      rest !== undefined ? joined(host.text, rest) : copy && copy.revision > host.revision ? copy.text : host.text;
    this.#setText(text);
    this.#draftSynced(host.revision);
    if (sent && !isTaken && text === copy?.text) this.problem.value = strings.notSent;
    if (text === host.text && !pending) return;
    this.#revision = Math.max(host.revision, copy?.revision ?? 0);
    this.#changed();
  }

  /** Sends the host what was sent and typed while it was not running. */
  #resend(key: string, { revision }: StoredDraft, { messages, text }: UnsentTexts): void {
    if (messages.length === 0 && text === '') return;
    const clientId = crypto.randomUUID();
    this.#resentSessions.set(clientId, key);
    post({ type: 'unsent', clientId, messages, text, revision }, key);
  }

  #resent(revision: number): void {
    this.#lostMessages = [];
    this.#hostRevision = revision;
    if (this.#timer !== undefined || this.pending.peek()) {
      this.#revision = Math.max(this.#revision, revision);
      this.#changed();
    } else this.#draftSynced(revision);
  }

  /**
   * Adds text typed before a session was shown: before its draft if it was sent, otherwise after
   * it.
   */
  #addEarly(early: string, sent: Pending | undefined): void {
    if (early === '') return;
    if (sent) this.pending.value = sent;
    const draft = this.text.peek();
    this.set(sent ? joined(early, draft) : joined(draft, early));
  }

  #reconcile(host: DraftView): void {
    if (host.revision < this.#revision) {
      this.#hostRevision = host.revision;
      this.flush();
    } else if (this.#revision > this.#hostRevision || this.pending.peek()) {
      this.#revision = host.revision;
      this.#changed();
    } else {
      if (host.text !== this.text.peek()) this.#setText(host.text);
      this.#draftSynced(host.revision);
    }
  }

  /**
   * Sends the draft of a session that is no longer shown.
   * @param revision of the host
   */
  #postDraftOf({ key }: Pending, text: string, revision: number): void {
    if (key === null) return;
    const next = Math.max(revision, storedDraft(key)?.revision ?? 0) + 1;
    drafts.set(key);
    if (text !== '') post({ type: 'draft', text, revision: next }, key);
  }
}

function withoutSent(text: string, ...sent: readonly string[]): string {
  let rest = text;
  for (const message of sent) if (rest.startsWith(message)) rest = rest.slice(message.length).replace(/^\s+/, '');
  return rest;
}

/** Texts to queue, and the text to restore in the field. */
interface UnsentTexts {
  readonly messages: readonly string[];
  readonly text: string;
}

/**
 * Separates texts sent to a host that exited from text typed since; a single message is restored to
 * the field.
 * @param isTaken the host had the first message
 */
function unsentTexts({ text, sent, lost = [] }: StoredDraft, isTaken = false): UnsentTexts {
  const parts = sent ? [sent.text, ...(sent.next ?? [])] : [];
  const rest = withoutSent(text, ...parts);
  const messages = [...lost, ...(isTaken ? parts.slice(1) : parts)];
  const [first = '', ...others] = messages;
  return others.length + lost.length === 0 && rest === '' ? { messages: [], text: first } : { messages, text: rest };
}

function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first}\n${second}`;
}

function storedDraft(key: string): StoredDraft | undefined {
  const [first, second] = drafts.copies(key);
  return first && second && first.revision > second.revision ? first : (second ?? first);
}

function draftsOfNew(shown: string): ReadonlyMap<string, StoredDraft> {
  const all = drafts.sessions().map((key) => [key, storedDraft(key)] as const);
  return new Map(all.filter((entry): entry is [string, StoredDraft] => entry[0] !== shown && entry[1]?.isNew === true));
}

function readDraft({ text, revision, sent, lost, isNew }: Stored): StoredDraft | undefined {
  if (typeof text !== 'string' || typeof revision !== 'number') return undefined;
  return {
    text,
    revision,
    sent: isSent(sent) ? sent : undefined,
    lost: isTexts(lost) ? lost : undefined,
    isNew: isNew === true || undefined,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isSent(value: unknown): value is SentDraft {
  if (!isRecord(value)) return false;
  const { clientId, text, revision, next = [] } = value;
  return isTexts(next) && typeof clientId === 'string' && typeof text === 'string' && typeof revision === 'number';
}

export const composer = new Composer();
