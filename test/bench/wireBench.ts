// How fast session updates come in: raw JSON.parse of the lines, our connection with validation and
// reducer behind it, and the official SDK's client, on the same bytes in one run.
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { RpcConnection } from '../../src/acp/jsonrpc/rpcConnection';
import type { Transport, TransportSink } from '../../src/acp/jsonrpc/transport';
import { silentLog } from '../../src/base/log';
import { collectGarbage } from '../support/heap';
import { type Row, rounded } from './figures';
import { newReducer } from './reduceUpdates';

const lineCount = 200_000;
const chunkBytes = 64 * 1024;
const sessionId = 'sess_0123456789abcdef';

/**
 * Measures messages per second. Each rate is the best of interleaved runs: what other processes
 * take from a run is no property of what is measured.
 * @param runs how often each is measured
 */
export async function measureWire(runs: number): Promise<Row[]> {
  const lines = Array.from({ length: lineCount }, (_, n) => updateLine(n));
  const chunks = cut(Buffer.from(`${lines.join('\n')}\n`));
  const best = { raw: 0, reduced: 0, sdk: 0 };
  const measure = async (what: keyof typeof best, run: () => void | Promise<void>): Promise<void> => {
    best[what] = Math.max(best[what], await rate(run));
  };
  for (let run = 0; run < runs; run++) {
    await measure('raw', () => parseAll(lines));
    await measure('reduced', () => throughConnection(chunks, newReducer(sessionId)));
  }
  // It takes several times as long, and so once is enough.
  await measure('sdk', () => throughSdk(chunks));
  const { raw, reduced, sdk } = best;
  const unit = 'messages/s';
  return [
    { name: 'wire: raw JSON.parse', value: Math.round(raw), unit, better: 'higher' },
    { name: 'wire: official SDK 2.4', value: Math.round(sdk), unit, better: 'higher' },
    { name: 'wire: Parley, parsed, validated and reduced', value: Math.round(reduced), unit, better: 'higher' },
    {
      name: 'wire: Parley reduced / raw JSON.parse',
      value: rounded(reduced / raw),
      unit: '×',
      target: 0.6,
      better: 'higher',
    },
  ];
}

function updateLine(n: number): string {
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update: updateOf(n) } });
}

/** Nine chunks of text of about 20 characters, then a tool call or its update. */
function updateOf(n: number): unknown {
  if (n % 10 !== 9) {
    const text = `word${n} **more** text `.padEnd(20, '.');
    return { sessionUpdate: 'agent_message_chunk', messageId: `m${n >> 8}`, content: { type: 'text', text } };
  }
  const toolCallId = `call_${n - (n % 20)}`;
  if (n % 20 === 9) {
    const locations = [{ path: `/home/user/project/src/file${n}.ts`, line: 12 }];
    const rawInput = { path: `src/file${n}.ts`, limit: 200 };
    return {
      sessionUpdate: 'tool_call',
      toolCallId,
      title: `Read file${n}.ts`,
      kind: 'read',
      status: 'pending',
      locations,
      rawInput,
    };
  }
  const content = [{ type: 'content', content: { type: 'text', text: 'const answer = 42;\n'.repeat(3) } }];
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', content };
}

function cut(bytes: Buffer): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  return chunks;
}

async function rate(run: () => void | Promise<void>): Promise<number> {
  // What the run before left behind must not be collected at the cost of this one.
  collectGarbage();
  const begin = performance.now();
  await run();
  return (lineCount * 1000) / (performance.now() - begin);
}

let kept: unknown;

function parseAll(lines: readonly string[]): void {
  for (const line of lines) kept = JSON.parse(line);
  if (kept === undefined) throw new Error('nothing was parsed');
}

/** Hands the chunks over one an event-loop turn, as a pipe does. */
class ChunkTransport implements Transport {
  readonly #chunks: readonly Uint8Array[];

  constructor(chunks: readonly Uint8Array[]) {
    this.#chunks = chunks;
  }

  listen(sink: TransportSink): void {
    let at = 0;
    const next = (): void => {
      const chunk = this.#chunks[at++];
      if (!chunk) {
        sink.closed();
        return;
      }
      sink.data(chunk);
      setImmediate(next);
    };
    setImmediate(next);
  }

  async write(): Promise<void> {}

  dispose(): void {}
}

async function throughConnection(
  chunks: readonly Uint8Array[],
  consume: (batch: readonly unknown[]) => void,
): Promise<void> {
  let count = 0;
  const connection = new RpcConnection({
    transport: new ChunkTransport(chunks),
    log: silentLog,
    handlers: {
      onUpdates: (batch) => {
        count += batch.length;
        consume(batch);
      },
      onRequest: async () => null,
      onNotification: () => {},
    },
  });
  await new Promise<void>((resolve) => connection.onDidClose(() => resolve()));
  expectAll(count);
}

async function throughSdk(chunks: readonly Uint8Array[]): Promise<void> {
  let count = 0;
  let at = 0;
  const input = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks[at++];
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
  const stream = ndJsonStream(new WritableStream<Uint8Array>(), input);
  const all = new Promise<void>((resolve) => {
    client({ name: 'bench' })
      .onNotification(methods.client.session.update, () => {
        if (++count === lineCount) resolve();
      })
      .connect(stream);
  });
  await all;
  expectAll(count);
}

function expectAll(count: number): void {
  if (count !== lineCount) throw new Error(`${count} of ${lineCount} updates arrived`);
}
