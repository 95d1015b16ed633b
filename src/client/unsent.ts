// What the user has before them and has not sent: the words and attachments of the next message, and where they are reading. It survives the window, like the messages
// that wait.
import type { Anchor } from '../panel/contract';
import type { QueuedAttachment } from '../session/queue';
import type { ConversationKeep, KeptConversation } from './keep';

export class Unsent {
  readonly #keep: ConversationKeep | undefined;
  readonly #onChange: () => void;
  #draft = '';
  #attachments: readonly QueuedAttachment[] = [];

  #anchor: Anchor | undefined;

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

  /** Where the user reads; undefined: at the end. */
  get anchor(): Anchor | undefined {
    return this.#anchor;
  }

  set anchor(anchor: Anchor | undefined) {
    if (anchor?.index === this.#anchor?.index && anchor?.offset === this.#anchor?.offset) return;
    this.#anchor = anchor;
    this.#keep?.place(anchor);
  }

  get attachments(): readonly QueuedAttachment[] {
    return this.#attachments;
  }

  /** Adds an attachment; one of the same place, such as the same lines of a file, is replaced. */
  attach(attachment: QueuedAttachment): void {
    const place = placeOf(attachment);
    const others = this.#attachments.filter((one) => place === undefined || placeOf(one) !== place);
    this.#set(this.#draft, [...others, attachment]);
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
  restore({ draft, attachments, anchor }: Pick<KeptConversation, 'draft' | 'attachments' | 'anchor'>): void {
    this.#draft = draft;
    this.#attachments = attachments;
    this.#anchor = anchor;
  }

  /**
   * What was written in a session that could only be read, now that it goes on here: it stands before the user and stays, with the attachments of both.
   * @returns what was kept beside it and is in neither, to be added to the composer; empty where there is nothing
   */
  takeOver({ draft, attachments }: Pick<Unsent, 'draft' | 'attachments'>): string {
    const kept = this.#draft;
    const known = new Set(this.#attachments.map(({ id }) => id));
    const all = [...this.#attachments, ...attachments.filter(({ id }) => !known.has(id))];
    if (draft === '' && all.length === this.#attachments.length) return kept;
    this.#set(draft === '' ? kept : draft, all);
    return draft.includes(kept) ? '' : kept;
  }

  #set(draft: string, attachments: readonly QueuedAttachment[]): void {
    this.#draft = draft;
    this.#attachments = attachments;
    this.#keep?.draft(draft, attachments);
    this.#onChange();
  }
}

/** The address of the file or the lines that an attachment stands for; undefined for pasted content. */
function placeOf({ forms }: QueuedAttachment): string | undefined {
  for (const form of forms)
    if ((form.type === 'resource' || form.type === 'resource_link') && !form.uri.startsWith('attachment:'))
      return form.uri;
  return undefined;
}
