// How fast the journal is when it is large: hundreds of sessions, one of them with 10,000 entries.
// Lists, searches, pages, and what a write costs.
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog } from '../../src/base/log';
import type { SessionEvent, TimedEvent } from '../../src/session/events/event';
import { SessionModel } from '../../src/session/model/model';
import { Journal } from '../../src/store/journal';
import { JournalPersistence } from '../../src/workbench/sessions/journalPersistence';
import { HeldTimers, newSession, queued, said, searchIn } from '../support/store/journals';
import { seeded } from '../support/store/random';
import { percentile, type Row, rounded, rowsOf } from './figures';
import { cpuMs } from './loopGaps';
import { record } from './recordEvents';

const SYLLABLES = 'ka lo mi ren tas vu bel dor fi gan hul jes pri sto wen zy'.split(' ');
const WORDS = 50_000;
const START = 1_700_000_000_000;

export interface JournalBenchOptions {
  /** Of 1,000 events each, and one with 10,000 entries. */
  readonly sessions: number;
  readonly say: (line: string) => void;
}

/** Makes a journal and measures it; the folder is removed. Times are in milliseconds. */
export async function measureJournal(options: JournalBenchOptions): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-journal-'));
  try {
    return await measure(folder, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(folder: string, { sessions, say }: JournalBenchOptions): Promise<readonly Row[]> {
  const random = seeded(42);
  let journal = open(folder);
  for (let index = 0; index < sessions; index++) {
    const key = `session-${index}`;
    journal.saveSession(newSession(key, { title: `Session ${words(random, 4)}` }));
    const list = conversation(random, index === sessions - 1 ? 10_000 : 500, START + index);
    const session = { key, agentId: 'demo', cwd: folder, roots: [folder] };
    await record(new JournalPersistence({ journal, log: silentLog, windowId: 'bench', session }, true), list);
    journal.release(key, 'bench');
  }
  journal.dispose();
  const rows: Row[] = [];
  const rowOf = rowsOf('journal');
  const row = (name: string, value: number, target: number) => rows.push(rowOf(name, value, 'ms', target));

  // The timers that index had no chance to run yet.
  journal = open(folder);
  row(
    'search while there is much to index',
    once(() => searchIn(journal, 'xylophone', 20)),
    20,
  );
  journal.dispose();
  row('longest step of indexing', indexAll(folder), 20);
  say(`${rounded(statSync(join(folder, 'parley.db')).size / 1e6)} MB`);
  journal = open(folder);
  row(
    'all of the history, first time',
    once(() => journal.sessions({ limit: 1000 })),
    200,
  );
  const long = `session-${sessions - 1}`;
  row(
    'last page of a 10,000-entry session, first time',
    once(() => reduce(journal.events(long, { from: journal.tail(long, 400)?.from ?? 1 }).events)),
    100,
  );
  const queries: Readonly<Record<string, string>> = {
    'a rare word': word(40_000),
    'a common word': word(0),
    'three common words': `${word(1)} ${word(2)} ${word(3)}`,
    'the beginning of many words': word(5).slice(0, 3),
    'a phrase': `"${word(0)} ${word(1)}"`,
    'no such word': 'xylophone',
  };
  for (const [name, query] of Object.entries(queries))
    row(
      `search for ${name}, first time`,
      once(() => searchIn(journal, query, 20)),
      100,
    );
  row('longest step of a search', Math.max(...Object.values(queries).map((query) => longestStep(journal, query))), 20);

  const key = 'session-0';
  row(
    'append of a chunk, p95',
    p95(5000, () => journal.append(key, [{ at: START, event: said('a few words of an answer ') }])),
    2,
  );
  let count = 0;
  row(
    'a message queued, p95',
    p95(500, () => journal.queue.enqueue(key, queued(`q${count++}`))),
    2,
  );
  row(
    'end of a turn, p95',
    p95(300, () => journal.append(key, [{ at: START, event: ended(`x${count++}`) }])),
    2,
  );
  journal.dispose();
  return rows;
}

/** Indexes everything as the journal's timers do. @returns the longest step in ms */
function indexAll(folder: string): number {
  const timers = new HeldTimers();
  const journal = Journal.open({ folder, log: silentLog, now: () => START, schedule: timers.schedule });
  const raw = new DatabaseSync(join(folder, 'parley.db'));
  const left = raw.prepare('SELECT 1 FROM sessions WHERE tools_seq < last_seq LIMIT 1');
  let longest = 0;
  searchIn(journal, 'nothing', 1);
  while (left.get() !== undefined)
    longest = Math.max(
      longest,
      once(() => timers.runFirst()),
    );
  raw.close();
  journal.dispose();
  return longest;
}

/** The longest of five searches, as the processor's time. */
function longestStep(journal: Journal, query: string): number {
  let longest = 0;
  for (let run = 0; run < 5; run++) {
    const steps = journal.search(query, 20);
    for (let done = false; !done; ) {
      const began = cpuMs();
      done = steps.next().done === true;
      longest = Math.max(longest, cpuMs() - began);
    }
  }
  return longest;
}

function open(folder: string): Journal {
  return Journal.open({ folder, log: silentLog, now: () => START });
}

/**
 * Turns of prompt, thought, tool calls and answer, until there are this many entries.
 * @param random below a number
 * @param at ms since 1970, of the first event
 */
export function conversation(random: (below: number) => number, entries: number, at: number): TimedEvent[] {
  const list: SessionEvent[] = [];
  let made = 0;
  for (let turn = 1; made < entries; turn++) {
    const turnId = `t${turn}`;
    list.push({ type: 'turn_started', turnId, origin: 'user', at });
    list.push({
      type: 'prompt_sent',
      turnId,
      promptId: `p${turn}`,
      content: [{ type: 'text', text: words(random, 20) }],
    });
    for (let step = 0; step < 6; step++) {
      const toolCallId = `c${turn}-${step}`;
      list.push({ type: 'message_chunk', role: 'thought', block: { type: 'text', text: words(random, 15) } });
      list.push({ type: 'tool_call', toolCallId, patch: { title: words(random, 4), kind: 'read' }, announced: true });
      for (const status of ['in_progress', 'completed'] as const) {
        const content = [{ type: 'content', block: { type: 'text', text: words(random, 30) } }] as const;
        list.push({ type: 'tool_call', toolCallId, patch: { status, content }, announced: false });
      }
      list.push(said(words(random, 25)), { type: 'usage', usage: { used: turn * 1000 + step, size: 200_000 } });
    }
    list.push(ended(turnId));
    made += 20;
  }
  return list.map((event, index) => ({ at: at + index, event }));
}

export function ended(turnId: string): SessionEvent {
  return { type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at: START };
}

/** The n-th word of a language; the first are said most often. */
function word(n: number): string {
  let rest = n + 16;
  let text = '';
  for (; rest > 0; rest = Math.floor(rest / 16)) text += SYLLABLES[rest % 16] ?? '';
  return text;
}

function words(random: (below: number) => number, count: number): string {
  const pick = (): string => word(Math.floor(WORDS ** (random(1_000_000) / 1_000_000)) - 1);
  return Array.from({ length: count }, pick).join(' ');
}

function reduce(events: readonly TimedEvent[]): void {
  const model = new SessionModel();
  for (const { at, event } of events) model.apply(event, at);
  if (model.state.entries.length === 0) throw new Error('nothing was read');
}

function once(run: () => void): number {
  const began = performance.now();
  run();
  return performance.now() - began;
}

function p95(count: number, run: () => void): number {
  return percentile(
    Array.from({ length: count }, () => once(run)),
    95,
  );
}
