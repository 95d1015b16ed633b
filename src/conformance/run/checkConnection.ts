// A connection to an agent under check: records each line, answers the agent, and bounds each wait.
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { type InitializeOptions, initializeParams } from '../../acp/initialize';
import { RpcConnection } from '../../acp/jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { describeExit } from '../../agents/agentProcess';
import { ParleyError } from '../../base/errors';
import { inEnglish } from '../../base/localizable';
import { silentLog } from '../../base/log';
import { at } from '../../base/untrusted';
import { within } from '../../base/within';
import type { ProtocolVersion } from '../rules/rule';
import type { WireLine, WireLog } from '../wire/wireLog';
import type { CheckedAgent, CheckLimits, CheckOptions } from './checkOptions';

/** In bytes. A longer message ends the connection. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of a file that the agent reads through the client. */
const MAX_FILE_BYTES = 64 * 1024;
const STDERR_LINES = { shown: 3, read: 40 } as const;
/** Wait for the exit of the process after the connection ended, ms. */
const EXIT_MS = 1_000;

export type Reply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'none' };

export interface CheckConnectionOptions {
  readonly agent: CheckedAgent;
  readonly log: WireLog;
  readonly limits: CheckLimits;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly onTraffic: CheckOptions['onTraffic'];
}

export class CheckConnection {
  onPermission: 'reject' | 'cancel' = 'reject';
  /** Permission requests so far. */
  asked = 0;
  readonly #options: CheckConnectionOptions;
  readonly #rpc: RpcConnection;
  readonly #overController = new AbortController();
  #isClosing = false;
  #error: ParleyError | undefined;

  constructor(options: CheckConnectionOptions) {
    this.#options = options;
    const { agent, log, signal, onTraffic } = options;
    const { scrub = (text: string) => text } = agent;
    log.nextLife();
    this.#rpc = new RpcConnection({
      transport: agent.transport,
      log: silentLog,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      handlers: {
        onUpdates: () => {},
        onNotification: () => {},
        onRequest: (method, params) => this.#answer(method, params),
      },
      onTraffic: (dir, line) => {
        onTraffic?.(dir, scrub(line));
        log.traffic(dir, line, scrub);
      },
      onNoise: (line) => {
        onTraffic?.('noise', scrub(line));
        log.noise(scrub(line));
      },
    });
    this.#rpc.onDidClose((error) => void this.#closed(error));
    void agent.exited.then((exit) => {
      // The agent may have exited because its connection ended.
      if (this.#error) this.#ended(`the connection ended: ${this.#error.message}`);
      else if (exit instanceof ParleyError) this.#ended(`the connection ended: ${exit.message}`);
      else this.#ended(`the agent ${inEnglish(describeExit(exit))}`);
    });
    if (signal.aborted) this.#overController.abort();
    signal.addEventListener('abort', () => this.#overController.abort(), {
      once: true,
      signal: this.#overController.signal,
    });
  }

  get isOver(): boolean {
    return this.#overController.signal.aborted;
  }

  initialize(client: InitializeOptions['client'], offer: ProtocolVersion): Promise<Reply> {
    const capabilities = { files: true, terminals: false };
    return this.call('initialize', initializeParams({ client, capabilities, offer }), this.#options.limits.initialize);
  }

  async call(method: string, params: unknown, ms = this.#options.limits.request): Promise<Reply> {
    return this.send(method, params, ms).reply;
  }

  send(method: string, params: unknown, ms: number): { readonly id: string | number; readonly reply: Promise<Reply> } {
    if (this.isOver) return { id: '', reply: Promise.resolve({ kind: 'none' }) };
    let id: string | number = '';
    const onSent = (sent: string | number): void => {
      id = sent;
    };
    const answered = this.#rpc.request(method, params, { onSent }).then(
      (result): Reply => ({ kind: 'result', result }),
      async (error: unknown): Promise<Reply> => {
        if (error instanceof RpcError) return { kind: 'error', code: error.code, message: error.message };
        // The connection has ended; its reason is recorded first.
        if (!this.isOver)
          await new Promise((resolve) =>
            this.#overController.signal.addEventListener('abort', resolve, { once: true }),
          );
        return { kind: 'none' };
      },
    );
    const reply = this.#until(answered, ms).then((found) => {
      if (found) return found;
      if (!this.isOver)
        this.#options.log.note(`no answer to ${method} within ${ms / 1000} s`, {
          kind: 'unanswered',
          id,
          seconds: ms / 1000,
        });
      return { kind: 'none' } as const;
    });
    return { id, reply };
  }

  async notify(method: string, params: unknown): Promise<void> {
    if (!this.isOver) await this.#rpc.notify(method, params).catch(() => {});
  }

  /** Waits for a line that passes `test`. */
  async until(test: (line: WireLine) => boolean, ms: number): Promise<boolean> {
    let stop = (): void => {};
    const met = new Promise<true>((resolve) => {
      stop = this.#options.log.onLine((line) => {
        if (test(line)) resolve(true);
      });
    });
    try {
      return (await this.#until(met, ms)) ?? false;
    } finally {
      stop();
    }
  }

  async quiet(): Promise<void> {
    const { quiet, noise } = this.#options.limits;
    const end = performance.now() + noise;
    while (performance.now() < end && (await this.until(({ dir }) => dir === 'received', quiet)));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#overController.abort();
    this.#rpc.dispose();
    await this.#options.agent.close();
  }

  async #until<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
    const stop = new AbortController();
    const late = new Promise<undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), ms);
      stop.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
      if (this.isOver) resolve(undefined);
      this.#overController.signal.addEventListener('abort', () => resolve(undefined), {
        once: true,
        signal: stop.signal,
      });
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      stop.abort();
    }
  }

  async #closed(error: ParleyError | undefined): Promise<void> {
    this.#error = error;
    await within(EXIT_MS, this.#options.agent.exited);
    this.#ended(error ? `the connection ended: ${error.message}` : 'the agent closed its output');
  }

  #ended(text: string): void {
    if (this.isOver || this.#isClosing) return;
    const stderr = lastErrorLines(this.#options.agent.stderrTail(STDERR_LINES.read));
    this.#options.log.note(stderr === '' ? text : `${text}; on stderr: ${stderr}`, { kind: 'ended' });
    this.#overController.abort();
  }

  async #answer(method: string, params: unknown): Promise<unknown> {
    switch (method) {
      case 'session/request_permission':
        return this.#permission(params);
      case 'elicitation/create':
        return { action: 'decline' };
      case 'fs/read_text_file': {
        const file = await this.#open(params, constants.O_RDONLY);
        try {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
          return { content: buffer.subarray(0, bytesRead).toString('utf8') };
        } finally {
          await file.close();
        }
      }
      case 'fs/write_text_file': {
        const file = await this.#open(params, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
        try {
          await file.writeFile(String(at(params, 'content') ?? '').slice(0, MAX_FILE_BYTES));
          return {};
        } finally {
          await file.close();
        }
      }
      default:
        throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`);
    }
  }

  async #permission(params: unknown): Promise<unknown> {
    this.asked++;
    if (this.onPermission === 'cancel') {
      await this.notify('session/cancel', { sessionId: at(params, 'sessionId') });
      return { outcome: { outcome: 'cancelled' } };
    }
    const options = at(params, 'options');
    const rejection = Array.isArray(options)
      ? options.find((option) => String(at(option, 'kind')).startsWith('reject'))
      : undefined;
    const optionId = at(rejection, 'optionId');
    return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
  }

  /** @throws RpcError for files outside of the session's folder */
  async #open(params: unknown, flags: number): ReturnType<typeof open> {
    const path = String(at(params, 'path'));
    try {
      const inside = relative(await realpath(this.#options.folder), await realpath(dirname(path)));
      if (inside !== '') throw new Error('not in the folder of the session');
      // Opening a pipe would wait for its other end in a thread of the file system pool.
      const file = await open(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
      if ((await file.stat()).isFile()) return file;
      await file.close();
      throw new Error('not a file');
    } catch (error) {
      throw new RpcError(RPC_CODES.resourceNotFound, `The file can't be opened: ${String(error)}`);
    }
  }
}

/** The last lines of stderr without indented ones: a stack trace would hide its error. */
function lastErrorLines(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const unindented = lines.filter((line) => !/^\s/.test(line));
  return (unindented.length > 0 ? unindented : lines).slice(-STDERR_LINES.shown).join('\n').trim();
}
