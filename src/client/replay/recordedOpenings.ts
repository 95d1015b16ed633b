// Tracks the sessions of a recording: how they are opened, what is replayed, and which updates are
// theirs. The live counterpart is client/connection/openSession.ts.
import { readStatus, type SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AgentDescription, Dialect } from '../../acp/protocol/dialect';
import { UpdateRouter, type UpdateSink } from '../../acp/protocol/earlyUpdates';
import { repeatedEvents } from '../../acp/quirks/repeatedPast';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';
import { applyOffer, withdrawOffer } from '../connection/openSession';
import { canReopen } from '../connection/sessionOpenStrategy';
import { type ReplayedSession, SessionReplay } from '../connection/sessionReplay';
import type { Schedule } from '../ports/grace';

export interface RecordedAgent {
  readonly dialect: Dialect;
  readonly description: Pick<AgentDescription, 'features' | 'raw'>;
}

export interface RecordedOpeningsOptions {
  readonly agent: () => RecordedAgent;
  readonly log: Log;
  readonly schedule: Schedule;
  readonly session: ReplayedSession;
  readonly rejoins: () => boolean;
  readonly onOpen: () => void;
}

export interface Opening {
  readonly method: string;
  readonly params: unknown;
  readonly replay: SessionReplay | undefined;
}

const OPENING: ReadonlySet<string> = new Set(['session/new', 'session/fork', 'session/load', 'session/resume']);
const NAMING: ReadonlySet<string> = new Set(['session/load', 'session/resume']);

export function isOpening(method: string): boolean {
  return OPENING.has(method);
}

export class RecordedOpenings {
  readonly #options: RecordedOpeningsOptions;
  readonly #sessionIds = new Set<string>();
  #router = newRouter();
  #current: string | undefined;
  readonly #pending = new Set<Opening>();
  #replay: SessionReplay | undefined;
  /** Set after the answer, while more may be replayed. */
  #quiet: Disposable | undefined;

  constructor(options: RecordedOpeningsOptions) {
    this.#options = options;
  }

  /** The open session, or the one that is being opened by its id. */
  get current(): string | undefined {
    for (const { method, params } of this.#pending) {
      const sessionId = at(params, 'sessionId');
      if (NAMING.has(method) && isText(sessionId)) return sessionId;
    }
    return this.#current;
  }

  requested(): void {
    if (this.current !== undefined) this.#router.requested(this.current);
  }

  get isOpening(): boolean {
    return this.#pending.size > 0;
  }

  get router(): UpdateRouter {
    return this.#router;
  }

  update(params: unknown): void {
    // A recording may begin in the middle of a session.
    if (this.#sessionIds.size === 0 && this.#pending.size === 0) this.use(at(params, 'sessionId'));
    this.#router.route([params]);
  }

  prompted(sessionId: unknown): void {
    if (this.#current === undefined) this.use(sessionId);
    this.endReplay();
  }

  begin(method: string, params: unknown): Opening {
    this.endReplay();
    const opening = { method, params, replay: method === 'session/new' ? undefined : this.#replayOf(method, params) };
    this.#pending.add(opening);
    const sessionId = at(params, 'sessionId');
    if (opening.replay && NAMING.has(method) && isText(sessionId))
      this.#router.register(sessionId, opening.replay.receive, opening.replay.takeOver);
    return opening;
  }

  /**
   * @param result undefined for an error
   * @returns whether the session is open
   */
  answered(opening: Opening, result: unknown): boolean {
    if (!this.#pending.delete(opening)) return true; // given up
    const { method, params, replay } = opening;
    const isNamed = NAMING.has(method);
    const sessionId = isNamed ? at(params, 'sessionId') : at(result, 'sessionId');
    if (result === undefined || !isText(sessionId)) {
      replay?.dispose();
      if (isNamed) this.use(this.#current);
      return false;
    }
    const { session } = this.#options;
    if (!replay && session.transcript.entries.length > 0) session.apply({ type: 'ids_renewed' });
    if (!isNamed) {
      replay?.begin();
      withdrawOffer(session);
    }
    const offer = this.#options.agent().dialect.readOffer?.(sessionId, result);
    if (offer) applyOffer(session, offer);
    this.#replay = replay;
    if (isNamed) this.#note(sessionId);
    else this.use(sessionId, replay?.receive, replay?.takeOver);
    if (isNamed && replay?.isExpected) {
      replay.begin();
      this.#quiet = replay.whenQuiet(() => this.ready());
    } else {
      replay?.answered();
      this.#options.onOpen();
    }
    return true;
  }

  /**
   * Handles `session/status`. A session that can't be reopened is used as it is.
   * @returns a function that takes the result
   */
  asked(params: unknown): (result: unknown) => SessionStatus {
    const sessionId = at(params, 'sessionId');
    const continues = this.#current === undefined && !canReopen(this.#options.agent().description.features);
    if (continues) this.use(sessionId);
    return (result) => {
      const status = readStatus(result);
      if (continues && status.answer !== 'live') {
        this.#router.unregister(String(sessionId));
        this.#current = undefined;
      }
      return status;
    };
  }

  ready(): void {
    if (!this.#quiet) return;
    this.#quiet.dispose();
    this.#quiet = undefined;
    this.#replay?.answered();
    this.#options.onOpen();
  }

  endReplay(): void {
    this.ready();
    this.#replay?.end();
    this.#replay = undefined;
  }

  giveUp(): void {
    for (const { replay } of this.#pending) replay?.dispose();
    this.#pending.clear();
    if (this.#quiet) {
      this.#quiet.dispose();
      this.#quiet = undefined;
      this.#replay?.dispose();
      this.#replay = undefined;
    }
    this.use(this.#current);
  }

  lost(): void {
    this.giveUp();
    this.endReplay();
    this.#router = newRouter();
    this.#current = undefined;
  }

  use(sessionId: unknown, sink: UpdateSink = this.#options.session.updates, onRequest?: () => void): void {
    if (!isText(sessionId)) return;
    this.#note(sessionId);
    this.#router.register(sessionId, sink, onRequest);
  }

  #note(sessionId: string): void {
    this.#current = sessionId;
    this.#sessionIds.add(sessionId);
  }

  #replayOf(method: string, params: unknown): SessionReplay {
    const { agent, log, session, schedule, rejoins } = this.#options;
    const { dialect, description } = agent();
    const sessionId = at(params, 'sessionId');
    const expected = method !== 'session/resume' || at(params, 'replayFrom') !== undefined;
    const hasTranscript = NAMING.has(method) && isText(sessionId) && this.#sessionIds.has(sessionId);
    const compares = hasTranscript || !expected;
    const asSaid = repeatedEvents(description.raw);
    return new SessionReplay({ session, dialect, log, schedule, asSaid, compares, expected, rejoins: rejoins() });
  }
}

function newRouter(): UpdateRouter {
  return new UpdateRouter(() => undefined);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
