// What is being written, and what became of what was sent. The text leaves the composer only when the host has it.
import { signal } from '@preact/signals';
import { post, saveUiState } from '../host';

/** How long after the last key the draft goes to the host, ms. */
const DRAFT_DELAY = 300;

class Composer {
  readonly text = signal('');
  /** The message on its way to the host. */
  readonly pending = signal<{ readonly clientId: string; readonly text: string } | undefined>(undefined);
  /** Why the last message was not taken. */
  readonly problem = signal('');
  #field: HTMLTextAreaElement | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastSent: string | undefined;
  #recall: () => string | undefined = () => undefined;

  attach(field: HTMLTextAreaElement | null): void {
    this.#field = field;
    if (field && field.value !== this.text.peek()) field.value = this.text.peek();
  }

  /** Goes on with what was written, and sent, before this script ran (early.ts). Call it once the field is drawn and the host was greeted. */
  takeOver(field: HTMLTextAreaElement | null): void {
    const early = globalThis.parleyEarly;
    if (!early) return;
    globalThis.parleyEarly = undefined;
    early.end();
    if (field?.value) this.typed(field.value);
    if (early.wantsSend) this.send(false);
  }

  recallFrom(recall: () => string | undefined): void {
    this.#recall = recall;
  }

  /** The user typed. */
  typed(text: string): void {
    this.text.value = text;
    if (this.problem.peek()) this.problem.value = '';
    this.#save();
  }

  /** Sets the text, with the caret at its end. */
  set(text: string): void {
    this.text.value = text;
    if (this.#field) {
      this.#field.value = text;
      this.#field.setSelectionRange(text.length, text.length);
    }
    this.#save();
  }

  /** The first snapshot came. What was typed before it stays. */
  begin(draft: string): void {
    if (this.text.peek() === '' && draft !== '') this.set(draft);
  }

  /** Sends what is written. @param allowEmpty attachments are a message of their own */
  send(allowEmpty: boolean): void {
    const text = this.text.peek();
    if (text.trim() === '' && !allowEmpty) return;
    if (this.pending.peek()?.text === text) return;
    const clientId = crypto.randomUUID();
    this.pending.value = { clientId, text };
    this.problem.value = '';
    post({ type: 'send', clientId, text });
  }

  accepted(clientId: string): void {
    const pending = this.pending.peek();
    if (pending?.clientId !== clientId) return;
    this.pending.value = undefined;
    this.#lastSent = pending.text;
    const text = this.text.peek();
    // What was typed since stays.
    if (text.startsWith(pending.text)) this.set(text.slice(pending.text.length).replace(/^\s+/, ''));
  }

  /** Something was not done. @param clientId the message that was not taken, where it was one */
  rejected(clientId: string | undefined, reason: string): void {
    if (clientId !== undefined) {
      if (this.pending.peek()?.clientId !== clientId) return;
      this.pending.value = undefined;
    }
    this.problem.value = reason;
  }

  /** Puts text where the caret is, apart from the words around it. */
  insert(text: string): void {
    const field = this.#field;
    const old = this.text.peek();
    const start = field?.selectionStart ?? old.length;
    const end = field?.selectionEnd ?? old.length;
    const before = old.slice(0, start);
    const gap = before === '' || /\s$/.test(before) ? '' : ' ';
    this.set(before + gap + text + old.slice(end));
    const caret = start + gap.length + text.length;
    field?.setSelectionRange(caret, caret);
    this.focus();
  }

  /** Brings back the last message. @returns whether there is one */
  recall(): boolean {
    const last = this.#lastSent ?? this.#recall();
    if (!last) return false;
    this.set(last);
    return true;
  }

  /** Tells the host at once what it was not told yet. To be called before another session is shown. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.text.peek();
    saveUiState({ draft: text });
    post({ type: 'draft', text });
  }

  focus(): void {
    this.#field?.focus();
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), DRAFT_DELAY);
  }
}

export const composer = new Composer();
