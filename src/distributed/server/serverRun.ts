// A run on our server: its state, and its serialized events. Readers pull by position, so a slow
// reader costs nothing.
import { Deferred } from '../../base/deferred';
import { ParleyError } from '../../base/errors';
import { Emitter } from '../../base/event';
import { isResting } from '../client/runRecovery';
import { orAborted } from '../model/deadline';
import {
  type AcpError,
  MAX_MESSAGE_BYTES,
  type Message,
  type MessagePart,
  mintId,
  textPart,
  timestamp,
} from '../model/model';
import type { RunEmitter } from './servedAgent';
import { ServerRefusal } from './serverRequest';
import type { SessionNotice } from './serverSessions';

/** An agent that produces more fails. */
const MAX_RUN_BYTES = 32 * 1024 * 1024;
const MAX_RUN_EVENTS = 100_000;
const MAX_PARTS_BYTES = MAX_MESSAGE_BYTES - 1024;
/** In longer finished messages, texts are merged, because agents stream a part per token. */
const MAX_LOOSE_PARTS = 256;

type Status = 'created' | 'in-progress' | 'awaiting' | 'cancelling' | 'cancelled' | 'completed' | 'failed';

interface OpenMessage {
  readonly role: string;
  readonly parts: MessagePart[];
  readonly created_at: string;
  completed_at: string | null;
}

export type RunOutcome =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'failed'; readonly error: AcpError };

export class ServerRun {
  readonly id = mintId();
  readonly agentName: string;
  readonly sessionId: string;
  readonly #now: () => number;
  readonly #createdAt: string;
  readonly #events: string[] = [];
  readonly #changed = new Emitter<void>();
  readonly #cancel = new AbortController();
  readonly #output: OpenMessage[] = [];
  status: Status = 'created';
  bytes = 0;
  #open: OpenMessage | undefined;
  #isWhole = false;
  #openBytes = 0;
  #question: { readonly message: Message; readonly answer: Deferred<Message> } | undefined;
  readonly #notices: MessagePart[] = [];
  #error: AcpError | undefined;
  #finishedAt: number | undefined;
  /** Last change of the status, in milliseconds since 1970. */
  since: number;

  constructor(agentName: string, sessionId: string, now: () => number) {
    this.agentName = agentName;
    this.sessionId = sessionId;
    this.#now = now;
    this.since = now();
    this.#createdAt = timestamp(this.since);
    this.#addEvent({ type: 'run.created', run: this.toWire() });
  }

  get isResting(): boolean {
    return isResting(this.status);
  }

  get isOver(): boolean {
    return this.#finishedAt !== undefined;
  }

  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  get events(): readonly string[] {
    return this.#events;
  }

  get output(): readonly Message[] {
    return this.#output.map(({ completed_at, ...message }) => ({
      ...message,
      completed_at: completed_at !== null ? completed_at : undefined,
    }));
  }

  toWire(): Readonly<Record<string, unknown>> {
    return {
      run_id: this.id,
      agent_name: this.agentName,
      session_id: this.sessionId,
      status: this.status,
      await_request: this.#question ? { type: 'message', message: this.#question.message } : null,
      output: this.#output,
      error: this.#error ?? null,
      created_at: this.#createdAt,
      finished_at: this.#finishedAt === undefined ? null : timestamp(this.#finishedAt),
    };
  }

  begin(): void {
    this.#setStatus('in-progress');
  }

  readonly emitter: RunEmitter = {
    part: (part) => {
      this.#assertRunning();
      if (this.#isWhole) this.#endMessage();
      this.#append(part);
    },
    message: (parts) => {
      this.#assertRunning();
      this.#endMessage();
      this.#open = this.#beginMessage();
      for (const part of parts) this.#append(part);
      this.#isWhole = true;
    },
    generic: (value) => {
      this.#assertRunning();
      this.#addEvent({ type: 'generic', generic: value });
    },
    ask: (parts, withdrawn) => {
      this.#assertRunning();
      withdrawn?.throwIfAborted();
      this.#endMessage();
      const at = timestamp(this.#now());
      const answer = new Deferred<Message>();
      // The agent may end without waiting for the answer.
      answer.promise.catch(() => undefined);
      const message = { role: `agent/${this.agentName}`, parts, created_at: at, completed_at: at };
      const question = { message, answer };
      this.#question = question;
      const withdraw = (): void => {
        if (this.#question !== question) return;
        this.#question = undefined;
        this.#setStatus('in-progress');
        answer.reject(withdrawn?.reason);
      };
      withdrawn?.addEventListener('abort', withdraw, { once: true });
      this.#setStatus('awaiting');
      return answer.promise;
    },
  };

  /** @throws ServerRefusal 403 without a question: resuming twice must not hang */
  resume(answer: Message): void {
    const question = this.#question;
    if (this.status !== 'awaiting' || !question) {
      throw new ServerRefusal(403, 'server_error', `Run ${this.id} has no await request`);
    }
    this.#question = undefined;
    this.#setStatus('in-progress');
    question.answer.resolve(answer);
  }

  /** @throws ServerRefusal 403 if it has ended */
  cancel(): void {
    if (this.isOver) {
      throw new ServerRefusal(403, 'server_error', `Run in terminal status ${this.status} can't be cancelled`);
    }
    if (this.status === 'cancelling') return;
    this.status = 'cancelling';
    const reason = new ParleyError('run-cancelled', 'The run was cancelled.');
    const question = this.#question;
    this.#question = undefined;
    this.#changed.fire();
    this.#cancel.abort(reason);
    question?.answer.reject(reason);
  }

  /** A truncated answer has no `completed_at`. */
  finish(outcome: RunOutcome): void {
    if (this.isOver) return;
    this.settle(outcome.status === 'completed');
    this.#open = undefined;
    this.#question?.answer.reject(new ParleyError('run-over', 'The run is over.'));
    this.#question = undefined;
    if (outcome.status === 'failed') this.#error = outcome.error;
    this.#finishedAt = this.#now();
    this.#setStatus(outcome.status);
  }

  /** An event now, and a step at the end of the output. */
  tell({ generic, sentence }: WireNotice): void {
    this.#addEvent({ type: 'generic', generic });
    this.#notices.push({ ...textPart(''), metadata: { kind: 'trajectory', message: sentence } });
  }

  /** Completes the output before it is recorded. */
  settle(isWhole: boolean): void {
    for (const part of this.#notices.splice(0)) this.#append(part);
    if (isWhole || this.#isWhole) this.#endMessage();
  }

  /** Throws the signal's reason. */
  async until(test: () => boolean, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!test()) {
      const changed = new Deferred<void>();
      const subscription = this.#changed.event(() => changed.resolve());
      await orAborted(changed.promise, signal).finally(() => subscription.dispose());
    }
  }

  #assertRunning(): void {
    if (this.isOver || this.#cancel.signal.aborted) {
      throw this.#cancel.signal.reason ?? new ParleyError('run-over', 'The run is over.');
    }
    if (this.#question) throw new ParleyError('run-awaiting', 'The run waits for an answer.');
    if (this.bytes > MAX_RUN_BYTES || this.#events.length > MAX_RUN_EVENTS) {
      throw new ParleyError('run-too-large', 'The agent produced more than a run may hold.');
    }
  }

  #append(part: MessagePart): void {
    const bytes = Buffer.byteLength(JSON.stringify(part)) + 1;
    if (bytes > MAX_PARTS_BYTES) {
      throw new ParleyError('part-too-large', 'The agent produced a part that is larger than a message may be.');
    }
    if (this.#openBytes + bytes > MAX_PARTS_BYTES) this.#endMessage();
    this.#open ??= this.#beginMessage();
    this.#openBytes += bytes;
    this.#open.parts.push(part);
    this.#addEvent({ type: 'message.part', part });
  }

  #beginMessage(): OpenMessage {
    this.#openBytes = 0;
    const message: OpenMessage = {
      role: `agent/${this.agentName}`,
      parts: [],
      created_at: timestamp(this.#now()),
      completed_at: null,
    };
    this.#output.push(message);
    this.#addEvent({ type: 'message.created', message });
    return message;
  }

  #endMessage(): void {
    const message = this.#open;
    if (!message) return;
    this.#open = undefined;
    this.#isWhole = false;
    this.#openBytes = 0;
    message.completed_at = timestamp(this.#now());
    if (message.parts.length > MAX_LOOSE_PARTS) message.parts.splice(0, Infinity, ...mergeTexts(message.parts));
    this.#addEvent({ type: 'message.completed', message });
  }

  #setStatus(status: Exclude<Status, 'created' | 'cancelling'>): void {
    this.status = status;
    this.since = this.#now();
    this.#addEvent({ type: `run.${status}`, run: this.toWire() });
  }

  #addEvent(event: unknown): void {
    const text = JSON.stringify(event);
    this.#events.push(text);
    this.bytes += text.length;
    this.#changed.fire();
  }
}

const TEXT_KEYS = new Set(['content_type', 'content', 'content_encoding', 'parley_content_type']);

function mergeTexts(parts: readonly MessagePart[]): readonly MessagePart[] {
  const out: MessagePart[] = [];
  let first: MessagePart | undefined;
  let texts: string[] = [];
  const flush = (): void => {
    if (first) out.push({ ...first, content: texts.join('') });
    first = undefined;
    texts = [];
  };
  for (const part of parts) {
    const isText =
      part.content_encoding === 'plain' &&
      Object.entries(part).every(([key, value]) => value === undefined || TEXT_KEYS.has(key));
    if (!isText || part.content === undefined) {
      flush();
      out.push(part);
      continue;
    }
    const { content_type: type, parley_content_type: mark } = part;
    if (type !== first?.content_type || mark !== first?.parley_content_type) flush();
    first ??= part;
    texts.push(part.content);
  }
  flush();
  return out;
}

export type RunNotice =
  | SessionNotice
  /** Messages that the agent did not get. `number` counts from 1. */
  | {
      readonly kind: 'history-gaps';
      readonly of: number;
      readonly gaps: readonly { readonly number: number; readonly reason: string }[];
    }
  | { readonly kind: 'session-grew'; readonly more: number }
  /** Another state was stored first; the agent gets it with its next prompt. */
  | { readonly kind: 'state-conflict' }
  | { readonly kind: 'state-not-saved'; readonly why: string }
  | { readonly kind: 'messages-waiting'; readonly waiting: number }
  /** The messages of this run are only in its output. */
  | { readonly kind: 'not-recorded'; readonly messages: number; readonly why: string };

export interface WireNotice {
  readonly generic: Readonly<Record<string, unknown>>;
  readonly sentence: string;
}

const MAX_GAPS = 100;

export function runNotice(notice: RunNotice): WireNotice {
  const sentence = sentenceOf(notice);
  const { kind, ...rest } = notice;
  const fields = notice.kind === 'history-gaps' ? { ...rest, gaps: notice.gaps.slice(0, MAX_GAPS) } : rest;
  return { generic: { 'parley/notice': kind, message: sentence, ...fields }, sentence };
}

function sentenceOf(notice: RunNotice): string {
  switch (notice.kind) {
    case 'history-gaps': {
      const [first] = notice.gaps;
      const count = `${notice.gaps.length} of ${messages(notice.of)}`;
      return `${count} of this session could not be read. Message ${first?.number}: ${first?.reason}`;
    }
    case 'session-forked':
      return `This session continued differently on this server after ${messages(notice.common)}. The run continues your version; the server keeps the other one.`;
    case 'session-contested':
      return 'Another client continued this session from a different history. The run continues that version; the server keeps the other one.';
    case 'session-grew':
      return `Another client added ${messages(notice.more)} to this session during the run. The messages of this run follow them.`;
    case 'state-conflict':
      return 'The state of the session was replaced during the run. The state that the agent wanted to store was not saved.';
    case 'state-not-saved':
      return `The state of the session was not saved. ${notice.why}`;
    case 'messages-waiting':
      return `${messages(notice.waiting)} of this run ${notice.waiting === 1 ? 'is' : 'are'} waiting for the storage server. Other servers can't read ${notice.waiting === 1 ? 'it' : 'them'} yet.`;
    case 'not-recorded':
      return `The ${messages(notice.messages)} of this run were not saved to the session. ${notice.why}`;
  }
}

function messages(count: number): string {
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}
