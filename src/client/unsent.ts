// What is written and chosen for the next message and not sent yet. It survives the window, like the messages that wait.
import type { QueuedAttachment } from '../session/queue';
import type { ConversationKeep } from './keep';

export class Unsent {
  readonly #keep: ConversationKeep | undefined;
  readonly #onChange: () => void;
  #draft = '';
  #attachments: readonly QueuedAttachment[] = [];

  /** @param onChange the attachments have changed; the text is the composer's own. */
  constructor(keep: ConversationKeep | undefined, onChange: () => void) {
    this.#keep = keep;
    this.#onChange = onChange;
  }

  get draft(): string {
    return this.#draft;
  }

  set draft(text: string) {
    if (text === this.#draft) return;
    this.#draft = text;
    this.#keep?.draft(text, this.#attachments);
  }

  get attachments(): readonly QueuedAttachment[] {
    return this.#attachments;
  }

  attach(attachment: QueuedAttachment): void {
    this.#set(this.#draft, [...this.#attachments, attachment]);
  }

  detach(id: string): void {
    this.#set(
      this.#draft,
      this.#attachments.filter((attachment) => attachment.id !== id),
    );
  }

  /** It was sent: in the queue it is kept as well. */
  clear(): void {
    this.#set('', []);
  }

  /** Goes on with what was kept. */
  restore(draft: string, attachments: readonly QueuedAttachment[]): void {
    this.#draft = draft;
    this.#attachments = attachments;
  }

  #set(draft: string, attachments: readonly QueuedAttachment[]): void {
    this.#draft = draft;
    this.#attachments = attachments;
    this.#keep?.draft(draft, attachments);
    this.#onChange();
  }
}
