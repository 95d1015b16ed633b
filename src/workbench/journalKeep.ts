// Keeps one conversation in the journal. What cannot be kept is told by the journal's own state; nothing here stops a conversation.
import { messageOf, ParleyError } from '../base/errors';
import type { Log } from '../base/log';
import type { ConversationKeep, KeptConversation, KeptItem } from '../client/keep';
import type { Anchor } from '../panel/contract';
import type { SessionEvent, TimedEvent } from '../session/event';
import type { QueuedAttachment, QueueItemState, StateFacts } from '../session/queue';
import type { Journal } from '../store/journal';
import type { ViewState } from '../store/records';
import { TranscriptReading } from './transcriptReading';

export interface KeepOptions {
  readonly journal: Journal;
  readonly log: Log;
  readonly windowId: string;
  readonly session: {
    readonly key: string;
    readonly agentId: string;
    readonly cwd: string;
    readonly roots: readonly string[];
  };
}

/** Events before the user's first word that are kept. */
const MOST_BEFORE = 2000;

export class JournalKeep implements ConversationKeep {
  readonly #options: KeepOptions;
  /** The user has said something. Until then nothing is written: a chat that was only looked at is no session. */
  #begun: boolean;
  /** What the agent said before the user did. */
  readonly #before: TimedEvent[] = [];
  #facts: Parameters<ConversationKeep['describe']>[0] = {};
  /** Another window has taken the session over: it is not ours to write any more. */
  #isLost = false;

  /** @param known the session is in the journal already */
  constructor(options: KeepOptions, known: boolean) {
    this.#options = options;
    this.#begun = known;
  }

  events(events: readonly TimedEvent[]): void {
    if (this.#begun || events.some(({ event }) => isWorthKeeping(event))) {
      this.#write((journal, key) => journal.append(key, events));
    } else if (this.#before.length + events.length <= MOST_BEFORE) this.#before.push(...events);
  }

  describe(facts: Parameters<ConversationKeep['describe']>[0]): void {
    this.#facts = { ...this.#facts, ...facts };
    if (this.#begun) this.#write((journal, key) => journal.updateSession(key, facts));
  }

  added(item: KeptItem, place: 'first' | 'last'): void {
    this.#write((journal, key) => journal.queue.enqueue(key, item, place));
  }

  changed(id: string, change: { readonly text?: string; readonly held?: boolean }): void {
    this.#write((journal, key) => journal.queue.edit(key, id, change));
  }

  state(id: string, state: QueueItemState, facts: StateFacts): void {
    this.#write((journal, key) => journal.queue.setState(key, id, state, facts));
  }

  order(ids: readonly string[]): void {
    this.#write((journal, key) => journal.queue.reorder(key, ids));
  }

  removed(id: string): void {
    this.#write((journal, key) => journal.queue.remove(key, id));
  }

  paused(reason: string | undefined): void {
    if (this.#begun) this.#write((journal, key) => journal.queue.setPaused(key, reason));
  }

  draft(text: string, attachments: readonly QueuedAttachment[]): void {
    if (!this.#begun && text === '' && attachments.length === 0) return;
    this.#write((journal, key) => journal.side.saveDraft(key, { text, attachments }));
  }

  place(anchor: Anchor | undefined): void {
    if (!this.#begun) return;
    const view = anchor ? { anchor: String(anchor.index), offset: anchor.offset, atEnd: false } : { atEnd: true };
    this.#write((journal, key) => journal.side.saveView(key, view));
  }

  decided(
    { permissionId, outcome, optionId, by }: Extract<SessionEvent, { type: 'permission_closed' }>,
    {
      title,
      toolKind,
      optionName,
    }: { readonly title: string; readonly toolKind?: string; readonly optionName?: string },
  ): void {
    const decision = {
      permissionId,
      title,
      outcome,
      by,
      at: Date.now(),
      ...(optionId !== undefined && { optionId }),
      ...(optionName !== undefined && { optionName }),
      ...(toolKind !== undefined && { toolKind }),
    };
    this.#write((journal, key) => journal.side.recordDecision(key, decision));
  }

  #write(change: (journal: Journal, key: string) => void): void {
    const { journal, log, session } = this.#options;
    if (this.#isLost) return;
    try {
      if (!this.#begun) this.#begin();
      change(journal, session.key);
    } catch (error) {
      this.#isLost = error instanceof ParleyError && error.code === 'session-held';
      // An item that is gone, or is on its way already, is no loss; what is one, the journal's state tells the user.
      const harmless = error instanceof ParleyError && error.code.startsWith('queue-');
      log[harmless ? 'debug' : 'error'](`journal: ${messageOf(error)}`);
    }
  }

  #begin(): void {
    const { journal, windowId, session } = this.#options;
    const { agentId = session.agentId, agentSessionId, protocol = 1, title } = this.#facts;
    journal.saveSession({
      ...session,
      agentId,
      protocol,
      ...(agentSessionId != null && { agentSessionId }),
      ...(title !== undefined && { title }),
    });
    journal.claim(session.key, windowId);
    this.#begun = true;
    journal.append(session.key, this.#before);
    this.#before.length = 0;
  }
}

/** The user has said something, or has opened what was said elsewhere. */
function isWorthKeeping(event: SessionEvent): boolean {
  return event.type === 'turn_started' || (event.type === 'notice' && event.opens === true);
}

/**
 * Reads what was kept of a conversation.
 * @param reading of its transcript, where that was begun before; it is at its end then
 * @throws ParleyError `journal-unknown-session`, `journal-unreadable`
 */
export function readKept(
  journal: Journal,
  key: string,
  reading = new TranscriptReading(journal, key),
): KeptConversation {
  const session = journal.session(key);
  if (!session) throw new ParleyError('journal-unknown-session', `The journal knows no session ${key}.`);
  const draft = journal.side.draft(key);
  const anchor = anchorOf(journal.side.view(key));
  return {
    model: reading.finish(),
    queue: journal.queue.items(key),
    draft: draft?.text ?? '',
    attachments: draft?.attachments ?? [],
    ...(anchor && { anchor }),
    ...(session.queuePaused !== undefined && { paused: session.queuePaused }),
    ...(session.agentSessionId !== undefined && { agentSessionId: session.agentSessionId }),
  };
}

function anchorOf(view: ViewState | undefined): Anchor | undefined {
  const index = Number(view?.anchor);
  return view && !view.atEnd && Number.isInteger(index) ? { index, offset: view.offset ?? 0 } : undefined;
}
