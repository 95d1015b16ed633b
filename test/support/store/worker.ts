// A separate process on a journal: `write` for ever, `stream` for ever, `fill` the disk, `hold` a
// session, `begin` on a folder that cannot be written. Each line of its output is JSON, written
// before anything else happens; each line of its input lets it continue.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { silentLog } from '../../../src/base/log';
import { Journal } from '../../../src/store/journal';
import { newSession, queued, said, turn } from './journals';

const [mode = '', folder = '', key = 'a'] = process.argv.slice(2);
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const journal = Journal.open({ folder, log: silentLog, now: Date.now, maxMemoryBytes: 16 * 1024 * 1024 });

function tell(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

function write(limit: number): void {
  for (let count = 0; count < limit; count++) {
    journal.append(key, [
      { at: count, event: said(`${count},`) },
      { at: count, event: said('.') },
    ]);
    journal.queue.enqueue(key, queued(`q${count}`));
    if (count % 10 === 9) journal.queue.remove(key, `q${count - 9}`);
    tell(count);
  }
}

function stream(from: number): void {
  for (let count = from; count < from + 7; count++) {
    journal.append(key, [{ at: count, event: said(`${count},`) }]);
    if (count % 3 === 0)
      journal.append(key, [{ at: count, event: { type: 'terminal', terminalId: 't1', append: `${count};` } }]);
    if (count % 50 === 0) {
      const content = [{ type: 'content', block: { type: 'text', text: `${count} `.repeat(2000) } }] as const;
      const patch = { status: 'in_progress', content } as const;
      journal.append(key, [
        { at: count, event: { type: 'tool_call', toolCallId: 'c1', patch, announced: count === 0 } },
      ]);
    }
    if (count % 200 === 0) journal.queue.enqueue(key, queued(`q${count}`));
  }
  // The journal's own timer of 50 ms has the earlier end, so it runs first, also on a busy machine.
  setTimeout(() => tell(from), 200);
  setTimeout(() => stream(from + 7), 1 + (from % 5));
}

if (mode === 'write') {
  journal.saveSession(newSession(key));
  write(Number.MAX_SAFE_INTEGER);
} else if (mode === 'share') {
  journal.saveSession(newSession(key));
  tell('ready');
  await input.next();
  write(200);
  journal.dispose();
} else if (mode === 'stream') {
  journal.saveSession(newSession(key));
  journal.claim(key, `window-${process.pid}`);
  stream(0);
} else if (mode === 'hold') {
  tell(journal.claim(key, `window-${process.pid}`));
  await input.next();
  journal.dispose();
} else if (mode === 'begin') {
  journal.saveSession(newSession(key));
  journal.append(key, turn('t1', 1, 'hello', 'world'));
  journal.queue.enqueue(key, queued('q1'));
  tell({ state: journal.state, items: journal.queue.items(key).length, events: journal.events(key).events.length });
} else if (mode === 'fill') {
  journal.saveSession(newSession(key));
  let count = 0;
  while (journal.state.kind === 'durable')
    journal.queue.enqueue(key, queued(`q${count++}`, { text: 'x'.repeat(20_000) }));
  for (let more = 0; more < 20; more++) journal.queue.enqueue(key, queued(`q${count++}`));
  journal.append(key, turn('t1', 1, 'hello', 'world'));
  tell({ state: journal.state, count, items: journal.queue.items(key).length });
  await input.next();
  tell({ ok: journal.retry(), state: journal.state });
  journal.dispose();
}
if (mode !== 'stream') process.exit(0);
