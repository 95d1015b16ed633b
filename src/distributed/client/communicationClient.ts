// A client of the Agent Communication Protocol (release 1.0.3), one method per endpoint. Everything
// received is validated and bounded in size and time.

import * as z from 'zod/mini';
import { messageOf, ParleyError } from '../../base/errors';
import { readEventStream } from '../../base/eventStream';
import { localizable } from '../../base/localizable';
import { type Log, silentLog } from '../../base/log';
import { Deadline, pause } from '../model/deadline';
import {
  type AgentManifest,
  agentManifestSchema,
  idSchema,
  MAX_DESCRIPTOR_BYTES,
  type Message,
  parseBounded,
  type Run,
  type RunEvent,
  readAs,
  readEvent,
  readSession,
  runSchema,
  type SessionDescriptor,
} from '../model/model';
import { AgentServerError, errorOfAnswer, errorOfContent, errorOfSilence } from './agentServerError';

export type Traffic = (dir: 'in' | 'out', line: string) => void;

export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

export interface CommunicationClientOptions {
  /** Base of the endpoints: http or https, no user name, no query. */
  readonly baseUrl: string;
  /** Headers for exactly this origin (a token), read before each request. */
  readonly headers?: (origin: string) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  readonly fetch?: FetchLike;
  readonly log?: Log;
  /** Text without headers; bodies may contain signed URLs. */
  readonly onTraffic?: Traffic | undefined;
  /** In milliseconds, except for synchronous runs. */
  readonly deadlineMs?: number;
}

/** `session`: the whole descriptor; `sessionId`: one that the server has. At most one of them. */
export interface RunRequest {
  readonly agentName: string;
  readonly input: readonly Message[];
  readonly session?: SessionDescriptor;
  readonly sessionId?: string;
}

/** `run` if the server answers with the run instead of a stream. */
export type RunStream =
  | { readonly kind: 'stream'; readonly runId: string | undefined; readonly events: AsyncIterable<RunEvent> }
  | { readonly kind: 'run'; readonly run: Run };

const DEADLINE_MS = 30_000;
/** In bytes; the events of a run repeat its output several times. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** Attempts of idempotent requests if the connection breaks. */
const MAX_TRIES = 3;
const RETRY_MS = 100;
const CANCEL = '/cancel';
const MAX_AGENTS = 1000;
const MAX_TRAFFIC = 16 * 1024;

const agentsSchema = z.looseObject({ agents: z.array(z.unknown()).check(z.maxLength(MAX_AGENTS)) });
const eventsSchema = z.looseObject({ events: z.array(z.unknown()).check(z.maxLength(1_000_000)) });

export class CommunicationClient {
  readonly origin: string;
  readonly baseUrl: string;
  readonly #options: CommunicationClientOptions;
  readonly #fetch: FetchLike;
  readonly #log: Log;

  /** @throws ParleyError `invalid-address` */
  constructor(options: CommunicationClientOptions) {
    const url = URL.canParse(options.baseUrl) ? new URL(options.baseUrl) : undefined;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
      throw new ParleyError(
        'invalid-address',
        localizable('The address of an agent server must be an http or https URL without user name and query.'),
      );
    }
    this.origin = url.origin;
    this.baseUrl = url.href.replace(/\/+$/, '');
    this.#options = options;
    this.#fetch = options.fetch ?? ((target, init) => fetch(target, init));
    this.#log = options.log ?? silentLog;
  }

  async ping(signal: AbortSignal): Promise<void> {
    await this.#json('GET', '/ping', undefined, signal);
  }

  /** At most 1000; invalid manifests are dropped. */
  async agents(
    page: { readonly limit?: number; readonly offset?: number },
    signal: AbortSignal,
  ): Promise<readonly AgentManifest[]> {
    const query = new URLSearchParams();
    if (page.limit !== undefined) query.set('limit', String(page.limit));
    if (page.offset !== undefined) query.set('offset', String(page.offset));
    const path = query.size === 0 ? '/agents' : `/agents?${query}`;
    const { value, status } = await this.#json('GET', path, undefined, signal);
    return this.#read(agentsSchema, value, 'The list of agents', status).agents.flatMap((item) => {
      const manifest = z.safeParse(agentManifestSchema, item);
      if (!manifest.success) this.#log.warn(`An agent of ${this.origin} is left out: its manifest does not fit.`);
      return manifest.success ? [manifest.data] : [];
    });
  }

  async agent(name: string, signal: AbortSignal): Promise<AgentManifest> {
    const { value, status } = await this.#json('GET', `/agents/${encodeURIComponent(name)}`, undefined, signal);
    return this.#read(agentManifestSchema, value, 'The manifest of the agent', status);
  }

  /** `POST /runs`, mode stream. Aborting closes the stream, not the run. */
  async runStream(request: RunRequest, signal: AbortSignal): Promise<RunStream> {
    return this.#stream('/runs', createBody(request), signal);
  }

  /** Starts after the events so far. Some servers hang unless the run is awaiting. */
  async resumeStream(runId: string, answer: Message, signal: AbortSignal): Promise<RunStream> {
    await this.#assertAwaiting(runId, signal);
    return this.#stream(runPath(runId), resumeBody(runId, answer), signal);
  }

  /** Returns the run while it is stopping. */
  async cancel(runId: string, signal: AbortSignal): Promise<Run> {
    const { value, status } = await this.#json('POST', runPath(runId) + CANCEL, undefined, signal);
    return this.#read(runSchema, value, 'The run', status);
  }

  async run(runId: string, signal: AbortSignal): Promise<Run> {
    const { value, status } = await this.#json('GET', runPath(runId), undefined, signal);
    const run = this.#read(runSchema, value, 'The run', status);
    if (run.run_id.toLowerCase() === runId.toLowerCase()) return run;
    throw errorOfContent(this.origin, status, new ParleyError('invalid-data', 'It is another run than asked for.'));
  }

  /** All from the start, one per streamed event. */
  async events(runId: string, signal: AbortSignal): Promise<readonly RunEvent[]> {
    const { value, status } = await this.#json('GET', `${runPath(runId)}/events`, undefined, signal);
    return this.#read(eventsSchema, value, 'The list of events', status).events.map((event) =>
      readStreamedEvent(event, this.#log),
    );
  }

  /** `GET /sessions/{id}`, or `GET /session/{id}` of the specification. */
  async session(id: string, signal: AbortSignal): Promise<SessionDescriptor> {
    const name = encodeURIComponent(id);
    const limit = MAX_DESCRIPTOR_BYTES;
    const { value, status } = await this.#json('GET', `/sessions/${name}`, undefined, signal, limit).catch(
      async (error: unknown) => {
        if (!(error instanceof AgentServerError) || error.status !== 404) throw error;
        return this.#json('GET', `/session/${name}`, undefined, signal, limit).catch((second: unknown) => {
          throw signal.aborted ? second : error;
        });
      },
    );
    const session = this.#validated(status, () => readSession(value, 'The session'));
    if (session.id === id) return session;
    throw errorOfContent(this.origin, status, new ParleyError('invalid-data', 'It is another session than asked for.'));
  }

  #deadline(signal: AbortSignal): Deadline {
    const { deadlineMs = DEADLINE_MS } = this.#options;
    return new Deadline(localizable('The agent server at {0}', this.origin), deadlineMs, signal);
  }

  async #assertAwaiting(runId: string, signal: AbortSignal): Promise<void> {
    const { status } = await this.run(runId, signal);
    if (status === 'awaiting') return;
    throw new ParleyError('run-not-awaiting', localizable("The run isn't waiting for an answer: it is {0}.", status));
  }

  async #stream(path: string, body: unknown, signal: AbortSignal): Promise<RunStream> {
    const deadline = this.#deadline(signal);
    try {
      const response = await this.#send('POST', path, body, deadline.signal, 'text/event-stream, application/json');
      if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
        const run = this.#read(
          runSchema,
          await this.#body(response, MAX_ANSWER_BYTES, `POST ${path}`, deadline.signal),
          'The run',
          response.status,
        );
        deadline.dispose();
        return { kind: 'run', run };
      }
      deadline.lift();
      const runId = z.safeParse(idSchema, response.headers.get('run-id')).data;
      this.#options.onTraffic?.('in', `${response.status} POST ${path} (event stream)`);
      return { kind: 'stream', runId, events: this.#events(response, deadline) };
    } catch (error) {
      deadline.dispose();
      throw error;
    }
  }

  async *#events(response: Response, deadline: Deadline): AsyncGenerator<RunEvent, void, undefined> {
    try {
      if (!response.body) return;
      for await (const data of readEventStream(response.body)) {
        this.#options.onTraffic?.('in', data.slice(0, MAX_TRAFFIC));
        let value: unknown;
        try {
          value = parseBounded(data, Number.MAX_SAFE_INTEGER);
        } catch (error) {
          if (!(error instanceof ParleyError)) throw error;
        }
        yield readStreamedEvent(value, this.#log);
      }
    } catch (error) {
      throw error instanceof ParleyError ? error : this.#noAnswer(error, deadline.signal);
    } finally {
      deadline.dispose();
    }
  }

  async #json(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    signal: AbortSignal,
    maxBytes = MAX_ANSWER_BYTES,
  ): Promise<{ readonly value: unknown; readonly status: number }> {
    const deadline = this.#deadline(signal);
    // Repeating these has no further effect.
    const tries = method === 'GET' || path.endsWith(CANCEL) ? MAX_TRIES : 1;
    try {
      for (let number = 1; ; number++) {
        try {
          const response = await this.#send(method, path, body, deadline.signal, 'application/json');
          const value = await this.#body(response, maxBytes, `${method} ${path}`, deadline.signal);
          return { value, status: response.status };
        } catch (error) {
          const isBroken = error instanceof AgentServerError && error.isBroken;
          if (!isBroken || number >= tries || deadline.signal.aborted) throw error;
          await pause(RETRY_MS * number, deadline.signal).catch(() => {
            throw error;
          });
        }
      }
    } finally {
      deadline.dispose();
    }
  }

  async #send(method: string, path: string, body: unknown, signal: AbortSignal, accept: string): Promise<Response> {
    const ownHeaders = (await this.#options.headers?.(this.origin)) ?? {};
    const headers = { ...ownHeaders, accept, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const text = body === undefined ? undefined : JSON.stringify(body);
    this.#options.onTraffic?.('out', `${method} ${path} ${text?.slice(0, MAX_TRAFFIC) ?? ''}`.trimEnd());
    let response: Response;
    try {
      response = await this.#fetch(this.baseUrl + path, { method, headers, signal, redirect: 'manual', body: text });
    } catch (error) {
      this.#options.onTraffic?.('in', `(no answer) ${method} ${path}`);
      throw this.#noAnswer(error, signal);
    }
    if (response.ok) return response;
    const errorBody = await this.#body(response, MAX_ERROR_BYTES, `${method} ${path}`, signal).catch(
      (error: unknown) => {
        if (signal.aborted) throw error;
        return undefined;
      },
    );
    throw errorOfAnswer(this.origin, response.status, response.headers, errorBody, Date.now());
  }

  async #body(response: Response, maxBytes: number, request: string, signal: AbortSignal): Promise<unknown> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of response.body ?? []) {
        size += chunk.byteLength;
        if (size > maxBytes)
          throw new ParleyError('too-large', localizable('The response exceeds {0} bytes.', maxBytes));
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof ParleyError && !signal.aborted) throw errorOfContent(this.origin, response.status, error);
      throw this.#noAnswer(error, signal);
    }
    const bytes = Buffer.concat(chunks);
    this.#options.onTraffic?.(
      'in',
      `${response.status} ${request} ${bytes.toString('utf8', 0, MAX_TRAFFIC)}`.trimEnd(),
    );
    try {
      return parseBounded(bytes, maxBytes);
    } catch (error) {
      throw errorOfContent(this.origin, response.status, error);
    }
  }

  #noAnswer(error: unknown, signal: AbortSignal): unknown {
    if (!signal.aborted) return errorOfSilence(this.origin, error);
    const { reason } = signal;
    return reason instanceof ParleyError && reason.code === 'timeout' ? errorOfSilence(this.origin, reason) : reason;
  }

  #read<T>(schema: z.ZodMiniType<T>, value: unknown, what: string, status: number): T {
    return this.#validated(status, () => readAs(schema, value, what));
  }

  #validated<T>(status: number, read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw errorOfContent(this.origin, status, error);
    }
  }
}

function runPath(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

function createBody({ agentName, input, session, sessionId }: RunRequest): unknown {
  return {
    agent_name: agentName,
    ...(session ? { session } : sessionId !== undefined && { session_id: sessionId }),
    input,
    mode: 'stream',
  };
}

function resumeBody(runId: string, answer: Message): unknown {
  return { run_id: runId, await_resume: { type: 'message', message: answer }, mode: 'stream' };
}

const terminalSchema = z.looseObject({
  type: z.enum(['run.completed', 'run.failed', 'run.cancelled', 'run.awaiting']),
});

/** Never throws. An invalid event counts as unknown, or as an `error` if it should end the run. */
export function readStreamedEvent(value: unknown, log: Log): RunEvent {
  try {
    return readEvent(value);
  } catch (error) {
    log.warn(`An event of a run is not understood: ${messageOf(error)}`);
    const terminal = z.safeParse(terminalSchema, value).data;
    if (terminal === undefined) return { type: 'unknown', name: 'invalid', raw: undefined };
    return {
      type: 'error',
      error: {
        code: 'invalid_data',
        message: localizable('The agent server ended the run with an invalid "{0}" event.', terminal.type),
      },
    };
  }
}
