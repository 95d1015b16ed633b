// How fast session updates come in: raw JSON.parse of the lines, our connection, and the official SDK's client, on the same bytes in one run.
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { RpcConnection } from '../../src/acp/rpcConnection';
import type { Transport, TransportSink } from '../../src/acp/transport';
import { silentLog } from '../../src/base/log';

/** One figure of the benchmark's table. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: number;
  readonly better: 'lower' | 'higher';
}

const lineCount = 200_000;
const chunkBytes = 64 * 1024;
const runs = 5;
const sessionId = 'sess_0123456789abcdef';

/**
 * Measures messages per second, each the median of interleaved runs.
 * @param consume what the client does with each batch of `session/update` params: validate and reduce; absent: nothing
 */
export async function measureWire(consume: (batch: readonly unknown[]) => void = () => {}): Promise<Row[]> {
  const lines = Array.from({ length: lineCount }, (_, n) => updateLine(n));
  const chunks = cut(Buffer.from(`${lines.join('\n')}\n`));
  const rates: { raw: number[]; ours: number[]; sdk: number[] } = { raw: [], ours: [], sdk: [] };
  for (let run = 0; run < runs; run++) {
    rates.raw.push(await rate(() => parseAll(lines)));
    rates.ours.push(await rate(() => throughConnection(chunks, consume)));
    rates.sdk.push(await rate(() => throughSdk(chunks)));
  }
  const [raw, ours, sdk] = [median(rates.raw), median(rates.ours), median(rates.sdk)];
  const cost = (1e6 * (raw - ours)) / (raw * ours);
  return [
    { name: 'wire: raw JSON.parse', value: Math.round(raw), unit: 'messages/s', better: 'higher' },
    { name: 'wire: Parley', value: Math.round(ours), unit: 'messages/s', better: 'higher' },
    { name: 'wire: official SDK 2.4', value: Math.round(sdk), unit: 'messages/s', better: 'higher' },
    { name: 'wire: Parley / raw JSON.parse', value: rounded(ours / raw), unit: '×', target: 0.5, better: 'higher' },
    { name: 'wire: Parley / official SDK', value: rounded(ours / sdk), unit: '×', target: 2, better: 'higher' },
    { name: 'wire: Parley, cost over JSON.parse', value: rounded(cost), unit: 'µs/message', better: 'lower' },
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
