// Parley at scale, in a real VS Code: many sessions that stream at the same time, a day of turns,
// and a minute without any. Delays of the extension host, bytes written, growth, and wake-ups.
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
  /** Callbacks of Parley, by what they waited for, if they are counted. */
  readonly wakes: Readonly<Record<string, number>>;
}

/** Updates of each session, and their rate per second: twenty seconds. */
const UPDATES = 2000;
const RATE = 100;
/** Bytes of text in one of them, in the mean. */
const UPDATE_BYTES = 20;
const MEGABYTE = 2 ** 20;
/** Parley stores its compiled code, 3 MB, once for each version: 20 s after its first start. */
const COMPILED_MS = 22_000;

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

  static async open(
    subject: Subject,
    say: (line: string) => void,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Probed> {
    const scratch = mkdtempSync(join(tmpdir(), 'parley-scale-'));
    const file = join(scratch, 'probe');
    const chat = await Chat.open(subject, scratch, say, {
      extensions: [pack('test/bench/hostProbe', join(scratch, 'probe.vsix'))],
      env: { PARLEY_BENCH_PROBE: file, ...env },
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

/** Sessions that stream in parallel, one of them shown. */
export async function measureSessions(
  subject: Subject,
  say: (line: string) => void,
  counts: readonly number[] = [1, 5, 20, 50],
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const count of counts) {
    const probed = await Probed.open(subject, say);
    try {
      const keys = (await probed.ask('open', { count: count - 1 })) as string[];
      await delay(COMPILED_MS);
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

/** Sessions of the day; one of them is shown. */
const DAY_SESSIONS = 10;
/** The share of the day's turns after which the first hour of eight is over. */
const FIRST_HOUR = 1 / 8;

/**
 * A day in ten sessions that work at the same time: turns with tool calls, diffs and text.
 * @param turns in all sessions
 */
export async function measureDay(
  subject: Subject,
  { turns, say }: { readonly turns: number; readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const probed = await Probed.open(subject, say);
  try {
    const keys = (await probed.ask('open', { count: DAY_SESSIONS - 1 })) as string[];
    const look = async () => {
      const { heapUsed, rss } = (await probed.ask('collect')) as HostFigures;
      const [elements, page] = [await probed.chat.elements(), await probed.chat.heapMb()];
      return { heap: heapUsed / MEGABYTE, rss: rss / MEGABYTE, page, elements };
    };
    await probed.ask('reset');
    const rounds = Math.round(turns / DAY_SESSIONS);
    const hour = Math.max(1, Math.round(rounds * FIRST_HOUR));
    const totals: number[] = [];
    let first: Awaited<ReturnType<typeof look>> | undefined;
    for (let round = 1; round <= rounds; round++) {
      const load = round % 3 === 0 ? 'flood 60 0' : 'tools 3 0';
      await probed.ask('send', { keys, text: load });
      const { total } = await probed.chat.turn(load, `D${round}x`);
      if (round % 3 !== 0) totals.push(total);
      await probed.ask('settled');
      if (round === hour) first = await look();
    }
    const last = await look();
    const { written } = (await probed.ask('read')) as HostFigures;
    const said = probed.chat.agentBytes();
    say(`day of ${turns}: ${JSON.stringify({ first, last, said })}`);
    const row = rowsOf(`a day of ${turns} turns in ${DAY_SESSIONS} sessions`);
    const grown = (name: 'heap' | 'rss' | 'page'): number => last[name] / (first?.[name] ?? Number.NaN);
    const some = Math.ceil(totals.length / 5);
    return [
      row('last turns against the first', median(totals.slice(-some)) / median(totals.slice(0, some)), '×', 1.05),
      row('extension host heap, last against first hour', grown('heap'), '×', 1.1),
      row('extension host RSS, last against first hour', grown('rss'), '×', 1.1),
      row('page heap, last against first hour', grown('page'), '×', 1.1),
      row('elements in the page', last.elements, 'elements', 2000),
      row('bytes written / bytes of the agents', written / said, '×', 5),
    ];
  } finally {
    await probed.close();
  }
}

/** After so long without work, all is written and indexed, in ms. */
const AT_REST_MS = 130_000;
const IDLE_MS = 60_000;

/** A minute in which four sessions are open, their agents run, and nothing happens. */
export async function measureIdle(subject: Subject, say: (line: string) => void): Promise<readonly Row[]> {
  const probed = await Probed.open(subject, say, { PARLEY_BENCH_WAKES: '1' });
  try {
    const keys = (await probed.ask('open', { count: 3 })) as string[];
    await probed.ask('send', { keys, text: 'flood 20 0' });
    await probed.ask('settled');
    await delay(AT_REST_MS);
    await probed.ask('reset');
    const posts = await probed.chat.postsIn(IDLE_MS);
    const { wakes, written } = (await probed.ask('read')) as HostFigures;
    say(`idle: ${JSON.stringify(wakes)}, ${posts} posts, ${written} bytes written by the extension host`);
    const row = rowsOf('a minute without work');
    return [
      row(
        'callbacks of Parley in the extension host',
        Object.values(wakes).reduce((sum, one) => sum + one, 0),
        '',
        0,
      ),
      row('posts to the page', posts, '', 0),
    ];
  } finally {
    await probed.close();
  }
}
