// A session that others held, opened by its descriptor: 200 messages on three servers, and 10,000. How soon its newest messages are painted, how soon it is there from its first message
// on, and that what was loaded once is not asked for again. In the packaged extension in a real VS Code.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, type StubServer, stopStubs, stubServer } from '../support/servers/stubServer';
import { Chat, type Shown } from './chat';
import { median, type Row, rounded } from './figures';
import { TITLES } from './journalPaint';
import { untilQuiet } from './procStat';
import type { Subject } from './subjects';

const SERVERS = 3;

interface Size {
  readonly messages: number;
  /** Sessions that one window opens; each has messages of its own. */
  readonly sessions: number;
  /** For the whole to be painted, in ms. */
  readonly wholeMs: number;
}

const SIZES: readonly Size[] = [
  { messages: 200, sessions: 3, wholeMs: 600 },
  { messages: 10_000, sessions: 3, wholeMs: 5000 },
];

/** Rows for the table; times in ms. @param subjects Parley, packaged, and the floor, which shows one line where Parley shows a session */
export async function measureCarriedPaint(
  { parley, floor }: { readonly parley: Subject; readonly floor: Subject },
  { repetitions, say }: { readonly repetitions: number; readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const servers: StubServer[] = [];
  try {
    for (let count = 0; count < SERVERS; count++)
      servers.push(await stubServer(({ path }, to) => answer(path, servers, to)));
    const least = median((await measureFloor(floor, say)).map(({ painted }) => painted));
    const rows: Row[] = [];
    for (const size of SIZES) rows.push(...(await measureSize(size, parley, servers, { repetitions, least, say })));
    rows.push({
      name: 'a session from elsewhere: entered to painted (floor)',
      value: rounded(least),
      unit: 'ms',
      better: 'lower',
    });
    return rows;
  } finally {
    await stopStubs();
  }
}

async function measureSize(
  size: Size,
  subject: Subject,
  servers: readonly StubServer[],
  { repetitions, least, say }: { repetitions: number; least: number; say: (line: string) => void },
): Promise<readonly Row[]> {
  const { messages, wholeMs } = size;
  const first: number[] = [];
  const whole: number[] = [];
  const again: number[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    const seen = await run(size, ofUsers(subject, servers), servers, say);
    first.push(...seen.first);
    whole.push(...seen.whole);
    again.push(seen.again);
    const told = `in the page ${seen.arrived.map(Math.round).join('/')}, first ${seen.first.map(Math.round).join('/')}, whole ${seen.whole.map(Math.round).join('/')}`;
    say(`carried ${messages}, ${repetition}/${repetitions}: ${told}, opened again ${seen.again} requests`);
  }
  const row = (name: string, value: number, unit: string, target?: number): Row => ({
    name: `${messages} messages from ${SERVERS} servers: ${name}`,
    value: rounded(value),
    unit,
    ...(target !== undefined && { target }),
    better: 'lower',
  });
  return [
    row('the newest painted', median(first), 'ms', 150),
    row('the newest painted', median(first) / least, '× floor'),
    row('the whole painted', median(whole), 'ms', wholeMs),
    row('opened again', Math.max(...again), 'requests', 0),
  ];
}

/** What the floor takes from what is entered to the screen, a few times. */
async function measureFloor(floor: Subject, say: (line: string) => void): Promise<readonly Shown[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const chat = await Chat.open(floor, scratch, say);
    try {
      const all: Shown[] = [];
      for (const text of TITLES) {
        await untilQuiet();
        all.push(await chat.enter(text));
      }
      say(
        `carried, floor: ${all.map(({ arrived, painted }) => `${rounded(arrived)}→${rounded(painted)}`).join(' / ')}`,
      );
      return all;
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The servers belong to agents of the user: nobody asks whether they may be asked. */
function ofUsers(subject: Subject, servers: readonly StubServer[]): Subject {
  const agents = Object.fromEntries(
    servers.map(({ baseUrl }, index) => [`far${index}`, { type: 'communication', url: baseUrl, agent: 'far' }]),
  );
  return {
    ...subject,
    settings: (agent) => ({ ...subject.settings(agent), 'parley.agents': { load: agent, ...agents } }),
  };
}

async function run(
  { messages, sessions }: Size,
  subject: Subject,
  servers: readonly StubServer[],
  say: (line: string) => void,
): Promise<{ arrived: number[]; first: number[]; whole: number[]; again: number }> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const chat = await Chat.open(subject, scratch, say);
    try {
      const arrived: number[] = [];
      const first: number[] = [];
      const whole: number[] = [];
      let tag = '';
      const asked = (): number => servers.reduce((sum, { requests }) => sum + requests.length, 0);
      for (let session = 0; session < sessions; session++) {
        tag = randomUUID().slice(0, 8);
        const address = addressOf(servers, tag, messages);
        await untilQuiet();
        const seen = await chat.openDescriptor(address, words(tag, 0), words(tag, messages - 1));
        arrived.push(seen.arrived);
        first.push(seen.newest);
        whole.push(seen.oldest);
      }
      const before = asked();
      await chat.openDescriptor(addressOf(servers, tag, messages), words(tag, 0), words(tag, messages - 1));
      // The session itself is asked for each time.
      return { arrived, first, whole, again: asked() - before - 1 };
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const addressOf = (servers: readonly StubServer[], tag: string, messages: number): string =>
  `${servers[0]?.baseUrl}/sessions/${tag}-${messages}`;

const words = (tag: string, index: number): string => `Message ${index} of ${tag}.`;

/** `/sessions/TAG-COUNT`: a session. `/TAG/INDEX`: a prompt or an answer of a few lines. */
function answer(path: string, servers: readonly StubServer[], response: Parameters<typeof json>[0]): void {
  const [, tag = '', at = ''] = path.split('/');
  if (tag === 'sessions') {
    const [name, count] = at.split('-');
    const urlAt = (index: number): string => `${servers[index % SERVERS]?.baseUrl}/${name}/${index}`;
    json(response, 200, { id: at, history: Array.from({ length: Number(count) }, (_, index) => urlAt(index)) });
    return;
  }
  const index = Number(at);
  const content = `**About it.** What was said then, in a few words and \`one\` of code.\n\n- first\n- second\n\n${words(tag, index)}`;
  json(response, 200, {
    role: index % 2 === 0 ? 'user' : 'agent/far',
    parts: [{ content_type: index % 2 === 0 ? 'text/plain' : 'text/markdown', content }],
  });
}
