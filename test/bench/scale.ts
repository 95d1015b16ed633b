// Parley at scale, in a real VS Code: many sessions that stream at once, and a day of turns in one.
// What the extension host stands still, what is written to the disk, and what grows with the day.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Chat } from './chat';
import { median, percentile, type Row, rowsOf } from './figures';
import { pack, type Subject } from './subjects';

interface HostFigures {
  readonly p99: number;
  readonly longest: number;
  readonly heapUsed: number;
  readonly rss: number;
  readonly written: number;
}

/** Updates of each session, and their rate per second: twenty seconds. */
const UPDATES = 2000;
const RATE = 100;
/** Bytes of text in one of them, in the mean. */
const UPDATE_BYTES = 20;
const MEGABYTE = 2 ** 20;

/** A Parley with the probe beside it. */
class Probed {
  readonly chat: Chat;
  readonly #address: string;
  readonly #scratch: string;

  private constructor(chat: Chat, address: string, scratch: string) {
    this.chat = chat;
    this.#address = address;
    this.#scratch = scratch;
  }

  static async open(subject: Subject, say: (line: string) => void): Promise<Probed> {
    const scratch = mkdtempSync(join(tmpdir(), 'parley-scale-'));
    const file = join(scratch, 'probe');
    const chat = await Chat.open(subject, scratch, say, {
      extensions: [pack('test/bench/hostProbe', join(scratch, 'probe.vsix'))],
      env: { PARLEY_BENCH_PROBE: file },
    });
    for (let waited = 0; !existsSync(file); waited += 50) {
      if (waited > 30_000) throw new Error('The host probe did not start');
      await delay(50);
    }
    return new Probed(chat, readFileSync(file, 'utf8'), scratch);
  }

  /** Asks the probe; see test/bench/hostProbe/extension.js. */
  async ask(what: string, argument: object = {}): Promise<unknown> {
    const response = await fetch(`${this.#address}/${what}`, { method: 'POST', body: JSON.stringify(argument) });
    const text = await response.text();
    if (!response.ok) throw new Error(`The host probe: ${text}`);
    return JSON.parse(text);
  }

  async close(): Promise<void> {
    await this.chat.close();
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

/** Sessions that stream at once, one of them shown. */
export async function measureSessions(subject: Subject, say: (line: string) => void): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const count of [1, 5, 20, 50]) {
    const probed = await Probed.open(subject, say);
    try {
      const keys = (await probed.ask('open', { count: count - 1 })) as string[];
      await probed.ask('reset');
      await probed.ask('send', { keys, text: `flood ${UPDATES} ${RATE}` });
      const { keys: typed } = await probed.chat.turn(`flood ${UPDATES} ${RATE}`, 'A', { typing: true });
      await probed.ask('settled');
      const host = (await probed.ask('read')) as HostFigures;
      const said = count * UPDATES * UPDATE_BYTES;
      const of = rowsOf(`${count} ${count === 1 ? 'session' : 'sessions'} streaming`);
      rows.push(
        of('extension host delay p99', host.p99, 'ms', 4),
        of('extension host longest delay', host.longest, 'ms', 50),
        of('extension host RSS', host.rss / MEGABYTE, 'MB', count === 20 ? 200 : undefined),
        of('key to paint p95', percentile(typed, 95), 'ms', 17),
        of('bytes written / bytes said', host.written / said, '×', 5),
      );
      say(`sessions ${count}: host p99 ${host.p99.toFixed(1)} ms, written ${(host.written / MEGABYTE).toFixed(1)} MB`);
    } finally {
      await probed.close();
    }
  }
  return rows;
}

/** A day in one session: turns with tool calls, diffs and text. @param turns how many */
export async function measureDay(
  subject: Subject,
  { turns, say }: { readonly turns: number; readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const probed = await Probed.open(subject, say);
  try {
    const look = async () => {
      const { heapUsed, written } = (await probed.ask('read')) as HostFigures;
      const [elements, page] = [await probed.chat.elements(), await probed.chat.heapMb()];
      return { host: heapUsed / MEGABYTE, page, elements, written: written / MEGABYTE };
    };
    await probed.ask('reset');
    await probed.chat.turn('tools 3 0', 'FIRST');
    const first = await look();
    const totals: number[] = [];
    for (let turn = 1; turn < turns; turn++) {
      if (turn % 3 === 0) await probed.chat.turn('flood 60 0', `D${turn}x`);
      else totals.push((await probed.chat.turn('tools 3 0', `D${turn}x`)).total);
    }
    const last = await look();
    const said = probed.chat.agentBytes() / MEGABYTE;
    say(`day of ${turns}: ${JSON.stringify({ first, last, said })}`);
    const row = rowsOf(`a day of ${turns} turns`);
    return [
      row('last 20 turns against first 20', median(totals.slice(-20)) / median(totals.slice(0, 20)), '×', 1.05),
      row('extension host heap, growth', last.host - first.host, 'MB', 20),
      row('page heap, growth', last.page - first.page, 'MB'),
      row('elements in the page', last.elements, 'elements', 2000),
      row('bytes written / bytes of the agent', last.written / said, '×', 5),
    ];
  } finally {
    await probed.close();
  }
}
