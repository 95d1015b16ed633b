// A session that others held, opened by its descriptor: 200 messages on three servers, and 10,000. How soon its newest messages are painted, how soon it is there from its first message
// on, and that what was loaded once is not asked for again. In the packaged extension in a real VS Code.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, type StubServer, stopStubs, stubServer } from '../support/stubServer';
import { Chat } from './chat';
import { median, type Row, rounded } from './figures';
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

/** Rows for the table; times in ms. @param subject Parley, packaged */
export async function measureCarriedPaint(
  subject: Subject,
  { repetitions, say }: { readonly repetitions: number; readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const servers: StubServer[] = [];
  try {
    for (let count = 0; count < SERVERS; count++)
      servers.push(await stubServer(({ path }, to) => answer(path, servers, to)));
    const rows: Row[] = [];
    for (const size of SIZES) rows.push(...(await measureSize(size, subject, servers, repetitions, say)));
    return rows;
  } finally {
    await stopStubs();
  }
}

async function measureSize(
  size: Size,
  subject: Subject,
  servers: readonly StubServer[],
  repetitions: number,
  say: (line: string) => void,
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
    const told = `first ${seen.first.map(Math.round).join('/')}, whole ${seen.whole.map(Math.round).join('/')}`;
    say(`carried ${messages}, ${repetition}/${repetitions}: ${told}, opened again ${seen.again} requests`);
  }
  const row = (name: string, value: number, unit: string, target: number): Row => ({
    name: `${messages} messages from ${SERVERS} servers: ${name}`,
    value: rounded(value),
    unit,
    target,
    better: 'lower',
  });
  return [
    row('the newest painted', median(first), 'ms', 150),
    row('the whole painted', median(whole), 'ms', wholeMs),
    row('opened again', Math.max(...again), 'requests', 0),
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
  { messages, sessions }: Size,
  subject: Subject,
  servers: readonly StubServer[],
  say: (line: string) => void,
): Promise<{ first: number[]; whole: number[]; again: number }> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const chat = await Chat.open(subject, scratch, say);
    try {
      const first: number[] = [];
      const whole: number[] = [];
      let tag = '';
      const asked = (): number => servers.reduce((sum, { requests }) => sum + requests.length, 0);
      for (let session = 0; session < sessions; session++) {
        tag = randomUUID().slice(0, 8);
        const address = addressOf(servers, tag, messages);
        await untilQuiet();
        const seen = await chat.openDescriptor(address, words(tag, 0), words(tag, messages - 1));
        first.push(seen.newest);
        whole.push(seen.oldest);
      }
      const before = asked();
      await chat.openDescriptor(addressOf(servers, tag, messages), words(tag, 0), words(tag, messages - 1));
      // The session itself is asked for each time.
      return { first, whole, again: asked() - before - 1 };
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
