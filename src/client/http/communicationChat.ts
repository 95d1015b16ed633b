// A conversation's session with HTTP agents. The client owns it: it survives connections, moves
// when the agent's address changes, and is stored to outlive the window.

import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import { type OwnText, ownText } from '../../session/events/ownText';
import { SessionModel, type SessionView } from '../../session/model/model';
import type { MessageEntry, SessionState } from '../../session/model/state';
import { reconcile, type Transcript } from '../../session/reconcile/reconcile';
import type { TrafficKind } from '../../traffic/trafficLog';
import {
  type AgentEndpoint,
  AgentServerError,
  CommunicationClient,
  CommunicationSession,
  type FollowOptions,
  type MessageRecorder,
  type SendOutcome,
  SessionPast,
  type Traffic,
  textOf,
} from '../ports/agentServers';
import { type Message, mintId, type SessionDescriptor } from '../ports/messages';
import type { Clock } from '../ports/ports';
import { type HistoryLinks, redactSignatures } from '../ports/resources';
import {
  type CommunicationRecord,
  type DescriptorPort,
  readRecord,
  withBranch,
  writeRecord,
} from './communicationRecord';

export interface ChatServices {
  readonly log: Log;
  readonly clock: Clock;
  readonly descriptors?: DescriptorPort;
  readonly historyLinks?: (key: string, sessionId: string) => HistoryLinks;
  readonly follow?: FollowOptions;
  readonly readPart?: (key: string, gapId: string) => void;
  readonly onTraffic?: (sessionKey: string, kind: TrafficKind, line: string) => void;
}

/** Responses for unknown session ids; some servers accept only ids that they issued. */
const UNKNOWN: ReadonlySet<number | undefined> = new Set([400, 404, 422]);

export class CommunicationChat {
  readonly #key: string;
  readonly #services: ChatServices;
  readonly #transcript: () => readonly Message[];
  readonly #model: SessionView;
  #session: CommunicationSession | undefined;
  #endpoint: AgentEndpoint | undefined;
  #branches: readonly SessionDescriptor[] = [];
  #adopted: SessionDescriptor | undefined;
  #emit: ((event: SessionEvent) => void) | undefined;
  #stored: string | undefined;
  #unanswered: string | undefined;

  constructor(key: string, services: ChatServices, model: SessionView, transcript: () => readonly Message[]) {
    this.#key = key;
    this.#services = services;
    this.#transcript = transcript;
    this.#model = model;
  }

  get descriptor(): SessionDescriptor | undefined {
    return this.#session?.descriptor ?? this.#adopted;
  }

  /** Even offline. Branches are those on servers, newest last. */
  async known(): Promise<Pick<CommunicationRecord, 'descriptor' | 'branches' | 'held'> | undefined> {
    if (this.#session) return { descriptor: this.#session.descriptor, branches: this.#branches };
    return this.#adopted ? { descriptor: this.#adopted, branches: [] } : await this.#read();
  }

  get isAsking(): boolean {
    return this.#session?.isAwaiting === true;
  }

  adopt(descriptor: SessionDescriptor): void {
    this.#adopted = descriptor;
  }

  attach(emit: (event: SessionEvent) => void): void {
    this.#emit = emit;
  }

  /** No server learns of the session before the first prompt. */
  begin(endpoint: AgentEndpoint): string {
    const id = mintId();
    this.#branches = [];
    this.#begin({ descriptor: { id, history: [] }, visited: [], branches: [] }, endpoint);
    return id;
  }

  /**
   * Continues a session: from this window, else as stored, else from the server.
   * @throws ParleyError `session-not-found`; AgentServerError
   */
  async open(sessionId: string, endpoint: AgentEndpoint, signal: AbortSignal): Promise<void> {
    if (this.#session?.descriptor.id === sessionId) {
      await this.#move(this.#session, endpoint, signal);
      return;
    }
    const record: CommunicationRecord =
      this.#adopted?.id === sessionId
        ? { descriptor: this.#adopted, visited: [], branches: [] }
        : ((await this.#readOf(sessionId)) ?? (await this.#askServer(sessionId, endpoint, signal)));
    this.#adopted = undefined;
    this.#branches = record.branches;
    const { place: last, question } = record;
    // Headers for the old server aren't stored, so the request has no token.
    const { log, onTraffic } = this.#services;
    const traffic: Traffic | undefined =
      onTraffic && ((dir, line) => onTraffic(this.#key, dir, redactSignatures(line)));
    const from = last && {
      client: new CommunicationClient({ baseUrl: last.url, log, onTraffic: traffic }),
      agentName: last.agent,
    };
    const isElsewhere = from !== undefined && !isSameEndpoint(from, endpoint);
    const session = this.#begin(record, isElsewhere ? from : endpoint);
    const running = record.running === true ? undefined : record.running;
    if (record.running) {
      session.missedEnd(this.#lostAnswer(record), running?.runId);
      this.#unanswered = this.#isAsked(record) ? lastOfUser(this.#model.state)?.id : undefined;
    }
    if (isElsewhere) await this.#move(session, endpoint, signal);
    else if (question) await session.takeUp(question, signal);
    else if (running) await session.takeUp(running, signal);
    await this.#keep();
  }

  /**
   * As `CommunicationSession.send`; saves the descriptor before and after.
   * @throws also ParleyError `no-session`
   */
  async send(prompt: readonly ContentBlock[], signal: AbortSignal): Promise<SendOutcome> {
    const session = this.#session;
    if (!session) throw new ParleyError('no-session', localizable('There is no session to send to.'));
    try {
      const outcome = await session.send(prompt, signal);
      if (outcome.isAwaiting) {
        this.#emitNotice(ownText('agent-awaits'));
      }
      return outcome;
    } finally {
      await this.#keep();
    }
  }

  /** Returns whether a window ended while the agent worked; the next start asks for the outcome. */
  async missedEnd(): Promise<boolean> {
    return !this.#session && !this.#adopted && (await this.#read())?.running !== undefined;
  }

  async handOut(recorder: MessageRecorder, signal: AbortSignal): Promise<SessionDescriptor | undefined> {
    if (this.#session) {
      const descriptor = await this.#session.handOut(recorder, signal);
      await this.#keep();
      return descriptor;
    }
    const record = this.#adopted ? undefined : await this.#read();
    const current = this.#adopted ? { descriptor: this.#adopted } : record;
    if (!current) return undefined;
    const { clock } = this.#services;
    const sessionPast = new SessionPast(current, { now: clock.now, links: this.#links(current.descriptor) });
    const lost = record?.running && this.#lostAnswer(record);
    if (lost) sessionPast.held.add(lost);
    const descriptor = await sessionPast.handOut(recorder, signal);
    if (record) await this.#write(writeRecord({ ...record, ...sessionPast.kept }));
    return descriptor;
  }

  /**
   * As `CommunicationSession.carryOn`.
   * @throws ParleyError `no-session`, `session-busy`
   */
  async carryOn(way: string): Promise<void> {
    if (!this.#session) throw new ParleyError('no-session', localizable('There is no session to send to.'));
    this.#session.carryOn(way, () => {
      const messages = this.#transcript();
      return messages.slice(
        0,
        messages.findLastIndex(({ role }) => role === 'user'),
      );
    });
    await this.#keep();
  }

  async cancel(): Promise<void> {
    const { isAsking } = this;
    await this.#session?.cancel();
    if (!isAsking) return;
    this.#emitNotice(ownText('question-withdrawn'));
    await this.#keep();
  }

  #begin({ visited, dead = [], ...past }: CommunicationRecord, endpoint: AgentEndpoint): CommunicationSession {
    const { log, clock, follow } = this.#services;
    const links = this.#links(past.descriptor);
    this.#endpoint = endpoint;
    this.#session = new CommunicationSession({
      endpoint,
      past,
      dead,
      visited,
      now: clock.now,
      log,
      emit: (event) => this.#showEvent(event),
      onDidFork: ({ theirs }) => {
        this.#branches = withBranch(this.#branches, theirs);
      },
      // The window may end while the agent works; the server then has more than we know.
      keep: () => this.#keep([this.#endpoint?.client.origin ?? endpoint.client.origin]),
      onDidMiss: (events) => this.#showMissed(events),
      links,
      follow,
    });
    return this.#session;
  }

  #showEvent(event: SessionEvent): void {
    this.#emit?.(event);
    if (event.type === 'gap') this.#services.readPart?.(this.#key, event.gapId);
  }

  #links({ id }: SessionDescriptor): HistoryLinks | undefined {
    return this.#services.historyLinks?.(this.#key, id);
  }

  #lostAnswer(record: CommunicationRecord): Message | undefined {
    const answer = this.#transcript().at(-1);
    return this.#isAsked(record) && answer?.role !== 'user' ? answer : undefined;
  }

  /** Whether the last prompt in the transcript is that of the interrupted run. */
  #isAsked({ held = [] }: CommunicationRecord): boolean {
    const prompt = held.at(-1)?.message;
    const asked = this.#transcript().findLast(({ role }) => role === 'user');
    return prompt !== undefined && asked !== undefined && wordsOf(prompt) === wordsOf(asked);
  }

  #showMissed(events: readonly SessionEvent[]): boolean {
    const previous = beforeTurn(this.#model.state);
    const asked = lastOfUser(previous);
    if (asked === undefined || asked.id !== this.#unanswered) return false;
    const whole = new SessionModel();
    whole.apply({ type: 'message', role: 'user', messageId: 'asked', content: asked.content }, 0);
    for (const event of events) whole.apply(event, 0);
    for (const event of reconcile(previous, whole.state)) this.#showEvent(event);
    return true;
  }

  async #move(session: CommunicationSession, endpoint: AgentEndpoint, signal: AbortSignal): Promise<void> {
    const { isAwaiting } = session;
    const from = this.#endpoint;
    await session.moveTo(endpoint, signal);
    this.#endpoint = endpoint;
    if (!from || isSameEndpoint(from, endpoint)) return;
    const count = session.descriptor.history.length;
    if (isAwaiting) this.#emitNotice(ownText('question-withdrawn'));
    this.#emitNotice(ownText('session-moved', endpoint.agentName, endpoint.client.origin, count));
    await this.#keep();
  }

  async #askServer(sessionId: string, { client }: AgentEndpoint, signal: AbortSignal): Promise<CommunicationRecord> {
    try {
      return { descriptor: await client.session(sessionId, signal), visited: [client.origin], branches: [] };
    } catch (error) {
      if (!(error instanceof AgentServerError) || !UNKNOWN.has(error.status)) throw error;
      throw new ParleyError(
        'session-not-found',
        localizable('Neither this machine nor {0} has the session.', client.origin),
        {
          hint: localizable('Start a new session.'),
          cause: error,
        },
      );
    }
  }

  async #readOf(sessionId: string): Promise<CommunicationRecord | undefined> {
    const record = await this.#read();
    return record?.descriptor.id === sessionId ? record : undefined;
  }

  async #read(): Promise<CommunicationRecord | undefined> {
    const { descriptors, log } = this.#services;
    try {
      const text = await descriptors?.read(this.#key);
      const record = text === undefined ? undefined : readRecord(text);
      if (text !== undefined && !record) log.warn(`What was kept of the HTTP session of ${this.#key} is damaged.`);
      this.#stored = text;
      return record;
    } catch (error) {
      log.warn(`What was kept of the HTTP session of ${this.#key} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Never throws. `about`: origins that are about to receive the session. */
  async #keep(about: readonly string[] = []): Promise<void> {
    const { descriptors } = this.#services;
    const session = this.#session;
    const endpoint = this.#endpoint;
    if (!descriptors || !session || !endpoint) return;
    const { kept, question, dead } = session;
    const text = writeRecord({
      ...kept,
      visited: [...new Set([...session.visited, ...about])],
      branches: this.#branches,
      place: { url: endpoint.client.baseUrl, agent: endpoint.agentName },
      question,
      running: session.running,
      dead: dead.length > 0 ? dead : undefined,
    });
    await this.#write(text);
  }

  async #write(text: string): Promise<void> {
    const { descriptors, log } = this.#services;
    if (text === this.#stored) return;
    try {
      await descriptors?.write(this.#key, text);
      this.#stored = text;
    } catch (error) {
      log.error(`The HTTP session of ${this.#key} is not kept: ${messageOf(error)}`);
    }
  }

  #emitNotice(notice: OwnText): void {
    this.#emit?.({ type: 'notice', severity: 'info', title: '', said: notice, own: true });
  }
}

function beforeTurn({ entries, turns, terminals, turn }: Readonly<SessionState>): Transcript {
  const end = turn ? entries.findIndex(({ turnId }) => turnId === turn.id) : -1;
  return { entries: end < 0 ? entries : entries.slice(0, end), turns, terminals };
}

function lastOfUser({ entries }: Transcript): MessageEntry | undefined {
  const last = entries.findLast(({ kind }) => kind === 'user');
  return last?.kind === 'user' ? last : undefined;
}

function wordsOf({ parts }: Message): string {
  return parts.map((part) => textOf(part) ?? '').join('');
}

function isSameEndpoint(endpoint: AgentEndpoint, other: AgentEndpoint): boolean {
  return endpoint.agentName === other.agentName && endpoint.client.baseUrl === other.client.baseUrl;
}
