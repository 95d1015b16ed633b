// Takes the title of a session from the agent's list of sessions, if the agent doesn't report it
// otherwise.
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { SessionEvent } from '../../session/events/event';
import type { SessionState } from '../../session/model/state';
import type { Recorder } from './recorder';
import type { SessionOps } from './sessionOps';

const MAX_TURNS = 3;
const MOST_PAGES = 2;
/** Limits the search, as other folders' sessions can fill many pages. */
const TIMEOUT_MS = 5_000;
/** Some agents use a timestamp until a session has a title. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d/;

interface TitledConversation {
  readonly key: string;
  readonly model: { readonly state: Readonly<Pick<SessionState, 'title' | 'isNamed' | 'replaying'>> };
  readonly sessionId: string | undefined;
  readonly recorder: Pick<Recorder, 'apply'>;
  readonly ops: Pick<SessionOps, 'can' | 'list'>;
  readonly services: { readonly log: Log };
}

export class ListedTitle {
  readonly #conversation: TitledConversation;
  #title: string | undefined;
  #turns = 0;

  constructor(conversation: TitledConversation) {
    this.#conversation = conversation;
  }

  happened(event: SessionEvent): void {
    const { model, sessionId, ops } = this.#conversation;
    const { title, isNamed, replaying } = model.state;
    if (event.type !== 'turn_ended' || sessionId === undefined || replaying || !ops.can('list')) return;
    if (isNamed || title !== this.#title || ++this.#turns > MAX_TURNS) return;
    void this.#fetch(sessionId);
  }

  async #fetch(sessionId: string): Promise<void> {
    const { key, model, recorder, ops, services } = this.#conversation;
    try {
      let pages = 0;
      for await (const page of ops.list({}, AbortSignal.timeout(TIMEOUT_MS))) {
        const title = page.find((session) => session.sessionId === sessionId)?.title;
        if (title !== undefined || ++pages === MOST_PAGES) {
          if (!title || TIME.test(title) || title === this.#title || model.state.title !== this.#title) return;
          if (this.#conversation.sessionId !== sessionId) return;
          this.#title = title;
          recorder.apply({ type: 'info', title });
          return;
        }
      }
    } catch (error) {
      services.log.info(`session ${key}: no title from session/list: ${messageOf(error)}`);
    }
  }
}
