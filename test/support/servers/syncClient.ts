// A client that also runs agents in the modes that the product does not use: sync and async.
import { errorOfAnswer } from '../../../src/distributed/client/agentServerError';
import {
  CommunicationClient,
  type CommunicationClientOptions,
  type RunRequest,
} from '../../../src/distributed/client/communicationClient';
import { type Message, type Run, readAs, runSchema } from '../../../src/distributed/model/model';

export class SyncClient extends CommunicationClient {
  readonly #headers: CommunicationClientOptions['headers'];

  constructor(options: CommunicationClientOptions) {
    super(options);
    this.#headers = options.headers;
  }

  /** The run as it ended, or as it awaits an answer. */
  runSync(request: RunRequest, signal: AbortSignal): Promise<Run> {
    return this.#post('/runs', bodyOf(request, 'sync'), signal);
  }

  runAsync(request: RunRequest, signal: AbortSignal): Promise<Run> {
    return this.#post('/runs', bodyOf(request, 'async'), signal);
  }

  resumeSync(runId: string, message: Message, signal: AbortSignal): Promise<Run> {
    const body = { run_id: runId, await_resume: { type: 'message', message }, mode: 'sync' };
    return this.#post(`/runs/${runId}`, body, signal);
  }

  async #post(path: string, body: unknown, signal: AbortSignal): Promise<Run> {
    const response = await fetch(this.baseUrl + path, {
      method: 'POST',
      headers: { ...(await this.#headers?.(this.origin)), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    const value: unknown = await response.json();
    if (!response.ok) throw errorOfAnswer(this.origin, response.status, response.headers, value, Date.now());
    return readAs(runSchema, value, 'The run');
  }
}

function bodyOf({ agentName, input, session, sessionId }: RunRequest, mode: string): unknown {
  return { agent_name: agentName, input, session, session_id: sessionId, mode };
}
