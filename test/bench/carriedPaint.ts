// A session that others held, opened by its descriptor: 200 messages on three servers, and 10,000. How soon its newest messages are painted, how soon it is there from its first message
// on, and that what was loaded once is not asked for again. In the packaged extension in a real VS Code.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, type StubServer, stopStubs, stubServer } from '../support/servers/stubServer';
import { Chat } from './chat';
import { median, type Row, rounded } from './figures';
import { untilQuiet } from './procStat';
import type { Subject } from './subjects';

const SERVERS = 3;
/** Sessions of each size that one window opens; each has messages of its own. */
const SESSIONS = 3;

interface Size {
  readonly messages: number;
  /** For the whole to be painted, in ms. */
  readonly wholeMs: number;
}

const SIZES: readonly Size[] = [
  { messages: 200, wholeMs: 600 },
  { messages: 10_000, wholeMs: 5000 },
];

/** What one window showed of the sessions of one size. */
interface Seen {
  readonly first: readonly number[];
  readonly whole: readonly number[];
  /** Requests when the last one is opened again. */
  readonly again: number;
}

/** Rows for the table; times in ms. @param repetitions windows, each opening sessions of all sizes */
export async function measureCarriedPaint(
  subject: Subject,
  { repetitions, say }: { readonly repetitions: number; readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const servers: StubServer[] = [];
  try {
    for (let count = 0; count < SERVERS; count++)
      servers.push(await stubServer(({ path }, to) => answer(path, servers, to)));
    const seen = SIZES.map(() => [] as Seen[]);
    for (let repetition = 0; repetition < repetitions; repetition++)
      for (const [index, one] of (await run(ofUsers(subject, servers), servers, say)).entries()) seen[index]?.push(one);
    return SIZES.flatMap((size, index) => rowsOf(size, seen[index] ?? []));
  } finally {
    await stopStubs();
  }
}

function rowsOf({ messages, wholeMs }: Size, seen: readonly Seen[]): readonly Row[] {
  const row = (name: string, value: number, unit: string, target: number): Row => ({
    name: `${messages} messages from ${SERVERS} servers: ${name}`,
    value: rounded(value),
    unit,
    target,
    better: 'lower',
  });
  return [
    row('the newest painted', median(seen.flatMap(({ first }) => first)), 'ms', 150),
    row('the whole painted', median(seen.flatMap(({ whole }) => whole)), 'ms', wholeMs),
    row('opened again', Math.max(...seen.map(({ again }) => again)), 'requests', 0),
  ];
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
  subject: Subject,
  servers: readonly StubServer[],
  say: (line: string) => void,
): Promise<readonly Seen[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const chat = await Chat.open(subject, scratch, say);
    try {
      const all: Seen[] = [];
      for (const size of SIZES) {
        const seen = await openSessions(chat, size, servers);
        all.push(seen);
        const [first, whole] = [seen.first, seen.whole].map((times) => times.map(Math.round).join('/'));
        say(`carried ${size.messages}: first ${first}, whole ${whole}, opened again ${seen.again} requests`);
      }
      return all;
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function openSessions(chat: Chat, { messages }: Size, servers: readonly StubServer[]): Promise<Seen> {
  const first: number[] = [];
  const whole: number[] = [];
  let tag = '';
  const asked = (): number => servers.reduce((sum, { requests }) => sum + requests.length, 0);
  for (let session = 0; session < SESSIONS; session++) {
    tag = randomUUID().slice(0, 8);
    await untilQuiet();
    const seen = await chat.openDescriptor(addressOf(servers, tag, messages), words(tag, 0), words(tag, messages - 1));
    first.push(seen.newest);
    whole.push(seen.oldest);
  }
  // What is between its first and its last message may still be on its way.
  await untilQuiet();
  const before = asked();
  await chat.openDescriptor(addressOf(servers, tag, messages), words(tag, 0), words(tag, messages - 1));
  // The session itself is asked for each time.
  return { first, whole, again: asked() - before - 1 };
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
