// The unsent text and attachments of the next message, and the reading position. Stored, like
// queued messages.
import { Emitter } from '../../base/event';
import type { Anchor, DraftView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import type { ConversationPersistence, KeptConversation } from './persistence';

/** `by`: the page that changed it. */
export interface DraftChange {
  readonly draft: DraftView;
  readonly by: unknown;
}

export class Unsent {
  readonly #persistence: ConversationPersistence | undefined;
  readonly #onChange: () => void;
  readonly #didChangeDraft = new Emitter<DraftChange>();
  readonly onDidChangeDraft = this.#didChangeDraft.event;
  #draft: DraftView = { text: '', revision: 0 };
  #attachments: readonly QueuedAttachment[] = [];

  #anchor: Anchor | undefined;

  constructor(persistence: ConversationPersistence | undefined, onChange: () => void) {
    this.#persistence = persistence;
    this.#onChange = onChange;
  }

  get draft(): DraftView {
    return this.#draft;
  }

  write(draft: DraftView, by: unknown): boolean {
    if (draft.revision <= this.#draft.revision) return false;
    this.#draft = { text: draft.text, revision: draft.revision };
    this.#persistence?.draft(this.#draft, this.#attachments);
    this.#didChangeDraft.fire({ draft: this.#draft, by });
    return true;
  }

  get anchor(): Anchor | undefined {
    return this.#anchor;
  }

  set anchor(anchor: Anchor | undefined) {
    if (anchor?.index === this.#anchor?.index && anchor?.offset === this.#anchor?.offset) return;
    this.#anchor = anchor;
    this.#persistence?.place(anchor);
  }

  get attachments(): readonly QueuedAttachment[] {
    return this.#attachments;
  }

  /** Replaces an attachment of the same target, such as the same lines of a file. */
  attach(attachment: QueuedAttachment): void {
    const address = addressOf(attachment);
    const others = this.#attachments.filter((attachment) => address === undefined || addressOf(attachment) !== address);
    this.#set(this.#draft, [...others, attachment]);
  }

  detach(id: string): void {
    this.#set(
      this.#draft,
      this.#attachments.filter((attachment) => attachment.id !== id),
    );
  }

  /**
   * Clears the draft after a message was sent, except for text that was typed in another page
   * since.
   * @param revision of the draft that was sent
   * @returns the new draft
   */
  sent(text: string, revision: number, by: unknown): DraftView {
    const { text: now, revision: newest } = this.#draft;
    const remaining =
      revision >= newest ? '' : text !== '' && now.startsWith(text) ? now.slice(text.length).trimStart() : now;
    this.#set({ text: remaining, revision: Math.max(revision, newest) + 1 }, []);
    this.#didChangeDraft.fire({ draft: this.#draft, by });
    return this.#draft;
  }

  /** Removes what was sent to other sessions, except for later additions. */
  sentElsewhere({ draft: { text, revision }, attachments }: Pick<Unsent, 'draft' | 'attachments'>): void {
    const added = this.#attachments.filter((attachment) => !attachments.includes(attachment));
    this.sent(text, revision, undefined);
    for (const attachment of added) this.attach(attachment);
  }

  restore({ draft, attachments, anchor }: Pick<KeptConversation, 'draft' | 'attachments' | 'anchor'>): void {
    this.#draft = draft;
    this.#attachments = attachments;
    this.#anchor = anchor;
  }

  /**
   * Adds what was written while the session was read-only here; it becomes the draft.
   * @returns the stored draft if it isn't part of that, to be added to the composer
   */
  takeOver({ draft: { text: draft, revision }, attachments }: Pick<Unsent, 'draft' | 'attachments'>): string {
    const stored = this.#draft.text;
    const attachedIds = new Set(this.#attachments.map(({ id }) => id));
    const all = [...this.#attachments, ...attachments.filter(({ id }) => !attachedIds.has(id))];
    if (draft === '' && all.length === this.#attachments.length) return stored;
    this.#set({ text: draft === '' ? stored : draft, revision: Math.max(revision, this.#draft.revision) + 1 }, all);
    return draft.includes(stored) ? '' : stored;
  }

  #set(draft: DraftView, attachments: readonly QueuedAttachment[]): void {
    this.#draft = draft;
    this.#attachments = attachments;
    this.#persistence?.draft(draft, attachments);
    this.#onChange();
  }
}

function addressOf({ forms }: QueuedAttachment): string | undefined {
  for (const form of forms)
    if ((form.type === 'resource' || form.type === 'resource_link') && !form.uri.startsWith('attachment:'))
      return form.uri;
  return undefined;
}
