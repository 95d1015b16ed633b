// The event streams of an HTTP connection: one for the connection, one per session (protocol.md
// 6.1). A stream that the server ends properly is reopened, since the server buffers messages until
// then; one that breaks may have lost events and ends the connection.
import { setTimeout as delay } from 'node:timers/promises';
import { Deferred } from '../../base/deferred';
import { ParleyError } from '../../base/errors';
import { readEventStream } from '../../base/eventStream';
import { localizable } from '../../base/localizable';
import { within } from '../../base/within';
import { type HttpClient, mediaType } from './httpClient';
import { answerError, asLost, lostError, networkError, statusError, tooLargeError } from './remoteError';

/** Wait for a stream to open, in ms: some servers send the headers only with the first event. */
const OPEN_MS = 2000;
/** Consecutive streams without a byte before the server counts as lost. */
const MAX_EMPTY_STREAMS = 4;
const MAX_STREAMS = 100;

export interface EventStreamsOptions {
  readonly client: HttpClient;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly onMessage: (data: string, sessionId: string | undefined) => void;
  readonly onEnd: (error: ParleyError) => void;
  readonly onConflict: (sessionId: string, error: ParleyError) => void;
}

interface OpenStream {
  readonly sessionId: string | undefined;
  readonly opened: Deferred<void>;
  readonly abort: AbortController;
  heardAt: number;
}

export const SESSION_HEADER = 'Acp-Session-Id';

export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #streams = new Map<string | undefined, OpenStream>();
  readonly #signal: AbortSignal;

  constructor(options: EventStreamsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Does nothing if it is open. Throws ParleyError `session-conflict`, `too-many-sessions`. */
  async open(sessionId: string | undefined): Promise<void> {
    let stream = this.#streams.get(sessionId);
    if (!stream) {
      if (this.#streams.size >= MAX_STREAMS) {
        throw new ParleyError(
          'too-many-sessions',
          localizable('more than {0} sessions are open on one connection', MAX_STREAMS),
        );
      }
      stream = { sessionId, opened: new Deferred(), abort: new AbortController(), heardAt: performance.now() };
      stream.opened.promise.catch(() => {}); // not every caller awaits it
      this.#streams.set(sessionId, stream);
      void this.#follow(stream);
    }
    await within(OPEN_MS, stream.opened.promise);
  }

  close(sessionId: string): void {
    this.#streams.get(sessionId)?.abort.abort();
    this.#streams.delete(sessionId);
  }

  /** Resolves when the session's stream has been quiet for `ms` milliseconds. */
  async untilQuiet(sessionId: string, ms: number): Promise<void> {
    for (let stream = this.#streams.get(sessionId); stream; stream = this.#streams.get(sessionId)) {
      const left = stream.heardAt + ms - performance.now();
      if (left <= 0 || this.#signal.aborted) return;
      await delay(left);
    }
  }

  async #follow(stream: OpenStream): Promise<void> {
    const signal = AbortSignal.any([this.#signal, stream.abort.signal]);
    try {
      for (let empty = 0; empty < MAX_EMPTY_STREAMS; ) {
        const isAlive = await this.#read(stream, signal);
        empty = isAlive ? 0 : empty + 1;
        await delay(50 * 2 ** empty, undefined, { signal });
      }
      this.#options.onEnd(lostError(localizable('{0} closes each event stream immediately', this.#options.url.host)));
    } catch (error) {
      if (!signal.aborted) this.#failed(stream, error);
    } finally {
      stream.opened.resolve();
    }
  }

  async #read(stream: OpenStream, signal: AbortSignal): Promise<boolean> {
    const { client, headers, maxMessageBytes, onMessage } = this.#options;
    const { sessionId } = stream;
    const named = sessionId === undefined ? headers : { ...headers, [SESSION_HEADER]: sessionId };
    const answer = await client.request('GET', { ...named, Accept: 'text/event-stream' }, undefined, signal);
    if (answer.status !== 200 || mediaType(answer) !== 'text/event-stream') {
      answer.body.destroy();
      throw this.#refusal(sessionId, answer.status);
    }
    stream.opened.resolve();
    let isAlive = false;
    const events = readEventStream(answer.body, maxMessageBytes, () => {
      isAlive = true;
      stream.heardAt = performance.now();
    });
    for await (const data of events) {
      if (signal.aborted) return isAlive;
      onMessage(data, sessionId);
    }
    return isAlive;
  }

  #refusal(sessionId: string | undefined, status: number): ParleyError {
    const { url } = this.#options;
    if (status === 200) return answerError(localizable("{0} didn't send an event stream", url.host));
    if (status === 409 && sessionId !== undefined) {
      return new ParleyError(
        'session-conflict',
        localizable("{0} doesn't share the messages of this session (409)", url.host),
      );
    }
    return connectedStatusError(url, status);
  }

  #failed(stream: OpenStream, error: unknown): void {
    const { url, maxMessageBytes, onEnd, onConflict } = this.#options;
    if (error instanceof ParleyError && error.code === 'session-conflict' && stream.sessionId !== undefined) {
      this.#streams.delete(stream.sessionId);
      stream.opened.reject(error);
      onConflict(stream.sessionId, error);
    } else if (error instanceof ParleyError && error.code === 'event-too-large') {
      onEnd(tooLargeError(url, maxMessageBytes));
    } else {
      onEnd(networkError(url, error));
    }
  }
}

export function connectedStatusError(url: URL, status: number): ParleyError {
  if (status === 404 || status === 410)
    return lostError(localizable('{0} no longer knows this connection ({1})', url.host, status));
  const error = statusError(url, status);
  return status >= 500 ? asLost(error) : error;
}
