// How soon a long session of earlier is there: kept by the product's own Recorder and JournalKeep
// in a real journal file, read by another journal as a window reads it, until the last page can be
// posted and until the whole is read.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log';
import { SessionFeed } from '../../src/client/view/feed';
import type { ToWebview } from '../../src/panel/contract';
import type { SessionEvent, TimedEvent } from '../../src/session/events/event';
import { Journal } from '../../src/store/journal';
import { JournalPersistence, readKept } from '../../src/workbench/sessions/journalPersistence';
import { collectGarbage } from '../support/heap';
import { testConversation } from '../support/sessions/conversation';
import { FEED_SOURCES } from '../support/sessions/feedSources';
import { said } from '../support/store/journals';
import { seeded } from '../support/store/random';
import { type Row, rounded, rowsOf } from './figures';
import { conversation, ended } from './journalBench';
import { cpuMs, LoopGaps } from './loopGaps';
import { record } from './recordEvents';

const START = 1_700_000_000_000;
const MEGABYTE = 2 ** 20;
/** Milliseconds of the longest block. */
const BLOCK_TARGET = 20;

/** Megabytes of the session that has much text. */
const TEXT_MB = 20;
/** Turns of the busy day: 30 calls each. */
const TURNS = 40;

/** A session to measure. */
interface Long {
  readonly name: string;
  /** Made when they are written: what the other sessions hold is no part of the measurement. */
  readonly events: () => Iterable<TimedEvent>;
  /** For the last page to be posted, in ms. */
  readonly pageMs: number;
  /** For its journal, in MB. */
  readonly maxMb?: number;
}

const SESSIONS: readonly Long[] = [
  { name: '10,000 entries', events: () => conversation(seeded(1), 10_000, START), pageMs: 100 },
  { name: '100,000 entries', events: () => conversation(seeded(2), 100_000, START), pageMs: 200 },
  { name: `${TEXT_MB} MB of text`, events: () => answers(TEXT_MB), pageMs: 200 },
  { name: `a day of ${TURNS} turns × 30 calls`, events: () => busyDay(TURNS), pageMs: 200, maxMb: (60 * TURNS) / 200 },
  { name: 'a picture of 16 MB', events: withPicture, pageMs: 200 },
  { name: 'a plan of 200 entries sent 2,000 times', events: plans, pageMs: 200 },
];

/**
 * Makes journals of one long session each and opens them; the folders are removed.
 * @param isQuick only the first
 */
export async function measureEntries(isQuick: boolean, say: (line: string) => void): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const one of SESSIONS.slice(0, isQuick ? 1 : undefined)) rows.push(...(await measureOne(one, say)));
  return rows;
}

async function measureOne({ name, events, pageMs, maxMb }: Long, say: (line: string) => void): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-entries-'));
  try {
    await keepSession(folder, events());
    // What was made for writing is not to be collected while it is read.
    collectGarbage();
    const megabytes = statSync(join(folder, 'parley.db')).size / MEGABYTE;
    const { page, opening, rest, whole, entries } = await open(folder);
    say(
      `${name}: ${entries} entries, ${rounded(megabytes)} MB, page ${rounded(page)} ms, blocks ${rounded(opening)} and ` +
        `${rounded(rest)} ms, whole ${rounded(whole)} ms`,
    );
    const row = rowsOf(`a session of ${name}`);
    return [
      row('last page can be posted', page, 'ms', pageMs),
      row('longest block while it opens', opening, 'ms', BLOCK_TARGET),
      row('longest block while the rest is read', rest, 'ms', BLOCK_TARGET),
      ...(maxMb === undefined ? [] : [row('journal', megabytes, 'MB', maxMb)]),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const KEY = 'long';
const AGENT = {
  type: 'process',
  protocol: 1,
  id: 'demo',
  name: 'Demo',
  command: process.execPath,
  args: [],
  env: {},
  source: 'settings',
} as const;

/** Keeps events as a window does that receives them. */
async function keepSession(folder: string, events: Iterable<TimedEvent>): Promise<void> {
  const journal = Journal.open({ folder, log: silentLog, now: () => START });
  const keep = keepOf(journal, folder, false);
  await record(keep, events);
  journal.dispose();
}

function keepOf(journal: Journal, folder: string, known: boolean): JournalPersistence {
  const session = { key: KEY, agentId: AGENT.id, cwd: folder, roots: [folder] };
  return new JournalPersistence({ journal, log: silentLog, windowId: 'bench', session }, known);
}

/** Opens the session in another journal. Times are milliseconds, blocks of the processor's time. */
async function open(folder: string) {
  const journal = Journal.open({ folder, log: silentLog, now: () => START });
  const gaps = new LoopGaps();
  const began = performance.now();
  const beganCpu = cpuMs();
  const kept = readKept(journal, KEY);
  const keep = keepOf(journal, folder, true);
  const { conversation: one, close } = testConversation({
    agent: AGENT,
    cwd: folder,
    key: KEY,
    kept,
    persistence: keep,
  });
  let page: number | undefined;
  const feed = new SessionFeed(one, FEED_SOURCES, (message: ToWebview) => {
    if (message.type === 'snapshot') page ??= performance.now() - began;
  });
  feed.snapshot();
  const opening = cpuMs() - beganCpu;
  gaps.reset();
  await one.whole;
  // What the panel receives of it is part of that.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const whole = performance.now() - began - 50;
  const rest = gaps.end();
  const entries = one.model.state.entries.length;
  feed.dispose();
  await close();
  journal.dispose();
  if (page === undefined) throw new Error('no page was posted');
  return { page, opening, rest, whole, entries };
}

/** Answers of 50 KB each, in chunks of 1 KB. */
function* answers(megabytes: number): Generator<TimedEvent> {
  let at = START;
  for (let turn = 1; turn <= megabytes * 20; turn++) {
    const turnId = `t${turn}`;
    yield { at: at++, event: { type: 'turn_started', turnId, origin: 'user', at } };
    for (let chunk = 0; chunk < 51; chunk++) {
      const text = `${randomBytes(384).toString('base64')} ${'words of an answer '.repeat(27)}`;
      yield { at: at++, event: said(text) };
    }
    yield { at: at++, event: ended(turnId) };
  }
}

/** Turns of 30 calls that print 10 to 30 KB each, told three times in `content` and `rawOutput`. */
function* busyDay(turns: number): Generator<TimedEvent> {
  let at = START;
  const random = seeded(7);
  for (let turn = 1; turn <= turns; turn++) {
    const turnId = `t${turn}`;
    yield { at: at++, event: { type: 'turn_started', turnId, origin: 'user', at } };
    for (let step = 0; step < 30; step++) {
      const toolCallId = `c${turn}-${step}`;
      const output = printed(random, 10_000 + random(20_000));
      const call = (patch: Extract<SessionEvent, { type: 'tool_call' }>['patch'], announced = false): TimedEvent => ({
        at: at++,
        event: { type: 'tool_call', toolCallId, patch, announced },
      });
      yield call({ title: 'Run', kind: 'execute', status: 'pending', rawInput: { command: 'npm test' } }, true);
      for (const status of ['in_progress', 'in_progress', 'completed'] as const)
        yield call({
          status,
          content: [{ type: 'content', block: { type: 'text', text: output } }],
          rawOutput: { output },
        });
    }
    yield { at: at++, event: ended(turnId) };
  }
}

/** Lines as compilers and tests print them. */
function printed(random: (below: number) => number, chars: number): string {
  let text = '';
  while (text.length < chars) {
    const [file, line, code] = [random(400), random(2000), random(3000)];
    text += `src/part${random(40)}/file${file}.ts(${line},${random(90)}): error TS${code}: Type ${random(1e9)} is not assignable\n`;
  }
  return text.slice(0, chars);
}

function* withPicture(): Generator<TimedEvent> {
  const data = randomBytes(12 * MEGABYTE).toString('base64');
  yield* conversation(seeded(1), 400, START);
  const picture = { type: 'image', data, mimeType: 'image/png' } as const;
  yield { at: START, event: { type: 'message_chunk', role: 'agent', block: picture } };
  yield* conversation(seeded(2), 1000, START);
}

/** One plan, sent whole with each step. */
function* plans(): Generator<TimedEvent> {
  const entries = Array.from({ length: 200 }, (_, step) => ({ content: `Step ${step}`, priority: 'medium' }) as const);
  yield { at: START, event: { type: 'turn_started', turnId: 't1', origin: 'user', at: START } };
  for (let sent = 0; sent < 2000; sent++) {
    const now = entries.map(
      (entry, step) => ({ ...entry, status: step < sent / 10 ? 'completed' : 'pending' }) as const,
    );
    yield { at: START + sent, event: { type: 'plan', planId: 'p1', entries: now } };
  }
  yield { at: START + 2000, event: ended('t1') };
}
