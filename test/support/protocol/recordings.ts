// Recorded traffic of real agents, and its replay into the client's readers: the transcript that
// comes out is plain text to compare.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { RpcConnection } from '../../../src/acp/jsonrpc/rpcConnection';
import { type Dialect, required } from '../../../src/acp/protocol/dialect';
import { messageOf } from '../../../src/base/errors';
import { inEnglish } from '../../../src/base/localizable';
import { silentLog } from '../../../src/base/log';
import { at } from '../../../src/base/untrusted';
import { PermissionRequestHandler } from '../../../src/client/requests/permissionRequestHandler';
import type { SessionEvent, StopReason } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import type { Entry } from '../../../src/session/model/state';
import { MemoryTransport } from '../memoryTransport';
import { readerOf, readInto } from './onlyReads';

const folder = join(process.cwd(), 'test/fixtures/wire');

export interface Recorded {
  readonly dir: 'c2a' | 'a2c' | 'mark' | 'err' | 'exit';
  /** Milliseconds since the beginning. */
  readonly t?: number;
  readonly msg?: Readonly<Record<string, unknown>>;
}

export function recordingNames(): readonly string[] {
  return readdirSync(folder)
    .map((file) => file.replace(/\.ndjson(\.gz)?$/, ''))
    .sort();
}

export function readRecording(name: string): readonly Recorded[] {
  const file = readdirSync(folder).find((one) => one.replace(/\.ndjson(\.gz)?$/, '') === name) ?? name;
  const bytes = readFileSync(join(folder, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
}

/** How the agent's bytes arrive. */
export interface Manner {
  /** Bytes of one piece; absent: all in one piece. */
  readonly piece?: number;
  readonly noise?: boolean;
}

export class Replay {
  readonly models = new Map<string, SessionModel>();
  readonly problems: string[] = [];
  updates = 0;
  #dialect: Dialect;
  #turns = 0;
  readonly #open = new Map<string, string>();
  readonly #desks = new Map<string, PermissionRequestHandler>();

  constructor(version: 1 | 2) {
    this.#dialect = readerOf(version);
  }

  prompt(sessionId: unknown): string {
    const turnId = `t${++this.#turns}`;
    this.#end(String(sessionId), 'unknown');
    this.#apply(sessionId, { type: 'turn_started', turnId, origin: 'user', at: 0 });
    this.#open.set(String(sessionId), turnId);
    return turnId;
  }

  answered(sessionId: unknown, turnId: string, message: unknown): void {
    const ends = this.#dialect.protocol === 1 || at(message, 'error') !== undefined;
    if (!ends || this.#open.get(String(sessionId)) !== turnId) return;
    const reason = at(message, 'result', 'stopReason');
    this.#end(String(sessionId), reason === 'cancelled' ? 'cancelled' : at(message, 'result') ? 'end_turn' : 'error');
  }

  update(params: unknown): void {
    this.updates++;
    const sessionId = at(params, 'sessionId');
    const targets = readInto((event) => this.#apply(sessionId, event), {
      onState: ({ state, stopReason }) => {
        if (state === 'idle') this.#end(String(sessionId), stopReason ?? 'unknown');
      },
      log: { ...silentLog, warn: (line: string) => this.problems.push(line) },
    });
    this.#dialect.readUpdates([at(params, 'update')], targets);
  }

  permission(params: unknown): void {
    const sessionId = String(at(params, 'sessionId'));
    const desk = this.#desks.get(sessionId) ?? new PermissionRequestHandler((event) => this.#apply(sessionId, event));
    this.#desks.set(sessionId, desk);
    try {
      void desk.ask(required(this.#dialect.controls).readPermission(params), true, new AbortController().signal);
    } catch (error) {
      this.problems.push(messageOf(error));
    }
  }

  transcript(): string {
    const lines = [...this.models].flatMap(([, { state }], index) => {
      const { commands, mode, config, usage, title } = state;
      return [
        `# session ${index + 1}: ${commands.length} commands, mode ${mode ?? '-'}, ${config.length} options, usage ${usage ? `${usage.used}/${usage.size}` : '-'}, title ${title ?? '-'}`,
        ...state.entries.map((entry) => '  '.repeat(state.nests.pathOf(entry).length) + lineOf(entry)),
      ];
    });
    return `${lines.join('\n')}\n`;
  }

  #end(sessionId: string, stopReason: StopReason): void {
    const turnId = this.#open.get(sessionId);
    if (turnId === undefined) return;
    this.#open.delete(sessionId);
    this.#apply(sessionId, { type: 'turn_ended', turnId, stopReason, barrier: 'response', at: 0 });
  }

  #apply(sessionId: unknown, event: SessionEvent): void {
    const model = this.models.get(String(sessionId)) ?? new SessionModel();
    this.models.set(String(sessionId), model);
    model.apply(event, 0);
  }
}

export function versionOf(lines: readonly Recorded[]): 1 | 2 {
  return lines.some(({ dir, msg }) => dir === 'a2c' && at(msg, 'result', 'protocolVersion') === 2) ? 2 : 1;
}

/**
 * Plays a recording over a real connection, byte by byte as told: the client's requests go out
 * again, and the agent's bytes come in between them.
 */
export async function replayOverWire(lines: readonly Recorded[], manner: Manner = {}): Promise<Replay> {
  const replay = new Replay(versionOf(lines));
  const transport = new MemoryTransport();
  const ids = new Map<unknown, string | number>();
  let reached = (): void => {};
  const rpc = new RpcConnection({
    transport,
    log: silentLog,
    handlers: {
      onUpdates: (batch) => {
        for (const params of batch) replay.update(params);
      },
      onRequest: async (method, params) => {
        if (method === 'session/request_permission') replay.permission(params);
        return {};
      },
      onNotification: (method) => {
        if (method === '_test/reached') reached();
      },
    },
  });
  let waiting: unknown[] = [];
  const deliver = async (): Promise<void> => {
    const end = { jsonrpc: '2.0', method: '_test/reached', params: {} };
    const done = new Promise<void>((resolve) => {
      reached = resolve;
    });
    say(transport, [...waiting, end], manner);
    waiting = [];
    await done;
  };
  for (const { dir, msg } of lines) {
    if (!msg) continue;
    const { method, id, params } = msg;
    if (dir === 'a2c') waiting.push(method === undefined && ids.has(id) ? { ...msg, id: ids.get(id) } : msg);
    else if (typeof method === 'string' && id !== undefined) {
      await deliver();
      const sessionId = at(params, 'sessionId');
      const turnId = method === 'session/prompt' ? replay.prompt(sessionId) : undefined;
      const answer = rpc.request(method, params, { onSent: (sent) => ids.set(id, sent) });
      const answered = (message: unknown): void => {
        if (turnId !== undefined) replay.answered(sessionId, turnId, message);
      };
      answer.then(
        (result) => answered({ result }),
        (error) => answered({ error }),
      );
    }
  }
  await deliver();
  rpc.dispose();
  return replay;
}

function say(transport: MemoryTransport, messages: readonly unknown[], { piece, noise }: Manner): void {
  const text = messages
    .map((message) => JSON.stringify(message))
    .map((line) => (noise ? `\r\n[debug] é€𝄞 ${line.length}\r\n{"half": \n${line}\r\n` : `${line}\n`))
    .join('');
  const bytes = Buffer.from(text);
  if (piece === undefined) transport.say(bytes);
  else for (let from = 0; from < bytes.length; from += piece) transport.say(bytes.subarray(from, from + piece));
}

function lineOf(entry: Entry): string {
  const place = `${entry.turnId ?? '-'}${entry.late ? ' late' : ''}`;
  switch (entry.kind) {
    case 'user':
    case 'agent':
    case 'thought':
      return `${place} ${entry.kind}: ${entry.content.map((block) => (block.type === 'text' ? JSON.stringify(block.text).slice(1, -1).slice(0, 400) : `[${block.type}]`)).join('')}`;
    case 'tool':
      return `${place} tool ${entry.toolKind} ${entry.status}: ${JSON.stringify(entry.title).slice(1, -1).slice(0, 200)} (${entry.content.map(({ type }) => type).join()}) ${entry.locations.map(({ path, line: row }) => `${path}:${row ?? ''}`).join()}`;
    case 'plan':
      return `${place} plan: ${entry.entries.map(({ status, content }) => `[${status}] ${content}`).join('; ')}`;
    case 'notice':
      return `${place} notice: ${entry.title} ${inEnglish(entry.text)}`;
    case 'error':
      return `${place} error: ${inEnglish(entry.text)}`;
    case 'turn_end':
      return `${entry.turnId} ends`;
    default:
      return `${place} ${(entry as Entry).kind}`;
  }
}
