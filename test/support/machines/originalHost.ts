// A server that does as acp-sdk 1.0.3 does, seen on its wire: it records completed runs only, keeps
// neither questions nor their answers, takes any session that comes as the session, names resources
// by the Host header, and fails a run where one message of its history cannot be had. Its agent
// reads the whole history before it says a word.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../../../src/base/deferred';
import './clock';
import { answerCalls } from './program';
import { answerOf, marksIn, promptOf, readPrompt, SLOW_MS } from './story';
import { weatheredServer } from './weather';

interface Part {
  readonly content_type?: string;
  readonly content?: string;
}
interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}
interface Session {
  readonly id: string;
  readonly history: readonly string[];
  readonly state?: string | null;
}
interface Run {
  readonly id: string;
  readonly session: Session;
  readonly input: readonly Message[];
  readonly base: string;
  readonly events: object[];
  readonly changed: Set<() => void>;
  readonly cancel: AbortController;
  readonly output: object[];
  status: string;
  error: object | null;
  question: object | null;
  answer: Deferred<Message> | undefined;
}

const AGENT = 'story';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const sessions = new Map<string, Session>();
const resources = new Map<string, string>();
const runs = new Map<string, Run>();
const seen: (readonly string[])[] = [];
let puts = 0;
let gets = 0;

function plainText({ parts }: Message): string {
  return parts
    .flatMap((part) => ((part.content_type ?? 'text/plain') === 'text/plain' ? [part.content ?? ''] : []))
    .join('');
}

async function load(url: string): Promise<Message> {
  let response: Response;
  try {
    response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(5000) });
  } catch {
    throw new Error('All connection attempts failed');
  }
  if (!response.ok) throw new Error(`Client error '${response.status} ${response.statusText}' for url '${url}'`);
  return (await response.json()) as Message;
}

function note(run: Run, event: object): void {
  run.events.push(structuredClone(event));
  for (const told of [...run.changed]) told();
}

function turn(run: Run, status: string): void {
  run.status = status;
  note(run, { type: `run.${status}`, run: wire(run) });
}

function wire({ id, session, status, question, output, error }: Run): object {
  const now = new Date().toISOString();
  const common = { run_id: id, agent_name: AGENT, session_id: session.id, status, output, error };
  return { ...common, await_request: question, created_at: now, finished_at: null };
}

async function work(run: Run): Promise<void> {
  const stopped = new Promise<never>((_resolve, reject) => {
    run.cancel.signal.addEventListener('abort', () => reject(new Error('cancelled')));
  });
  stopped.catch(() => undefined);
  let open: { role: string; parts: object[]; completed_at: string | null } | undefined;
  const say = (content: string): void => {
    const part = {
      name: null,
      content_type: 'text/plain',
      content,
      content_encoding: 'plain',
      content_url: null,
      metadata: null,
    };
    if (!open) {
      open = { role: `agent/${AGENT}`, parts: [], completed_at: null };
      run.output.push(open);
      note(run, { type: 'message.created', message: open });
    }
    open.parts.push(part);
    note(run, { type: 'message.part', part });
  };
  try {
    turn(run, 'in-progress');
    const past: string[] = [];
    for (const url of run.session.history) past.push(plainText(await load(url)));
    const asked = run.input.map(plainText);
    seen.push(marksIn([...past, ...asked].join('\n')));
    const { mark, verb } = readPrompt(asked.at(-1) ?? '');
    if (verb === 'ask') {
      run.answer = new Deferred<Message>();
      run.question = {
        type: 'message',
        message: { role: `agent/${AGENT}`, parts: [{ content_type: 'text/plain', content: 'Shall I?' }] },
      };
      turn(run, 'awaiting');
      await Promise.race([run.answer.promise, stopped]);
      turn(run, 'in-progress');
    }
    const words = answerOf(mark);
    say(words.slice(0, 7));
    say(words.slice(7));
    if (verb === 'slow') await Promise.race([sleep(SLOW_MS), stopped]);
    if (verb === 'hang') await stopped;
    if (verb === 'fail') throw new Error('Wrong question buddy!');
    if (open) {
      open.completed_at = new Date().toISOString();
      note(run, { type: 'message.completed', message: open });
    }
    const urls = [...run.input, ...(run.output as Message[])].map((message) => {
      const id = randomUUID();
      resources.set(id, JSON.stringify(message));
      puts++;
      return `${run.base}/resources/${id}`;
    });
    sessions.set(run.session.id, { ...run.session, history: [...run.session.history, ...urls] });
    turn(run, 'completed');
  } catch (error) {
    if (run.cancel.signal.aborted) return turn(run, 'cancelled');
    run.error = { code: 'server_error', message: (error as Error).message, data: null };
    turn(run, 'failed');
  }
}

const OVER = new Set(['completed', 'failed', 'cancelled']);

async function answerRun(run: Run, mode: string, from: number, response: ServerResponse): Promise<void> {
  const isResting = (): boolean => OVER.has(run.status) || run.status === 'awaiting';
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      const told = (): void => {
        run.changed.delete(told);
        resolve();
      };
      run.changed.add(told);
    });
  response.setHeader('Run-ID', run.id);
  if (mode !== 'stream') {
    while (mode === 'sync' && !isResting()) await next();
    return json(response, mode === 'sync' ? 200 : 202, wire(run));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (let at = from; ; ) {
    const upTo = run.events.length;
    const isLast = isResting();
    for (; at < upTo; at++) response.write(`data: ${JSON.stringify(run.events[at])}\n\n`);
    if (isLast) break;
    if (run.events.length === at) await next();
  }
  response.end();
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, never>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, never>;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '', headers } = request;
  const [, room = '', id = '', action] = url.split('?', 1)[0]!.split('/');
  const missing = (): void => json(response, 404, { code: 'not_found', message: `${room} not found`, data: null });
  if (room === 'ping') return json(response, 200, {});
  if (room === 'agents') {
    const manifest = {
      name: AGENT,
      description: 'A story.',
      metadata: {},
      input_content_types: ['*/*'],
      output_content_types: ['*/*'],
    };
    return json(response, 200, id === '' ? { agents: [manifest] } : manifest);
  }
  if (room === 'resources') {
    gets++;
    const text = resources.get(id);
    if (text === undefined) return missing();
    response.writeHead(200).end(text);
    return;
  }
  if (room === 'sessions') {
    if (!UUID.test(id)) return json(response, 422, { code: 'invalid_input', message: 'uuid_parsing', data: null });
    const session = sessions.get(id);
    return session ? json(response, 200, { state: null, ...session }) : missing();
  }
  if (room !== 'runs') return missing();
  if (id === '') {
    const { session, session_id, input, mode = 'sync' } = (await bodyOf(request)) as Record<string, unknown>;
    const name = String(session_id ?? (session as Session | undefined)?.id ?? randomUUID());
    const run: Run = {
      id: randomUUID(),
      session: (session as Session | undefined) ?? sessions.get(name) ?? { id: name, history: [] },
      input: input as readonly Message[],
      base: `http://${headers.host}`,
      events: [],
      changed: new Set(),
      cancel: new AbortController(),
      output: [],
      status: 'created',
      error: null,
      question: null,
      answer: undefined,
    };
    runs.set(run.id, run);
    note(run, { type: 'run.created', run: wire(run) });
    void work(run);
    return answerRun(run, String(mode), 0, response);
  }
  const run = runs.get(id);
  if (!run) return missing();
  if (action === 'events') return json(response, 200, { events: run.events });
  if (action === 'cancel') {
    if (OVER.has(run.status)) return json(response, 403, { code: 'server_error', message: 'terminal', data: null });
    run.status = 'cancelling';
    run.cancel.abort();
    return json(response, 202, wire(run));
  }
  if (method === 'GET') return json(response, 200, wire(run));
  const { await_resume, mode = 'sync' } = (await bodyOf(request)) as Record<string, unknown>;
  if (run.status !== 'awaiting')
    return json(response, 403, { code: 'server_error', message: 'no await request', data: null });
  const from = run.events.length;
  run.status = 'in-progress';
  run.answer?.resolve((await_resume as { message: Message }).message);
  return answerRun(run, String(mode), from, response);
}

const server = await weatheredServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
});

answerCalls({
  port: () => server.port,
  setWeather: server.setWeather,
  setConnected: server.setConnected,
  lastSeen: () => seen.at(-1),
  puts: () => puts,
  gets: () => gets,
  fill(count: number, host: string) {
    return Array.from({ length: count }, (_, index) => {
      const id = randomUUID();
      const isUser = index % 2 === 0;
      const content = isUser ? promptOf(`9.${index}`, 'plain') : answerOf(`9.${index - 1}`);
      resources.set(
        id,
        JSON.stringify({ role: isUser ? 'user' : `agent/${AGENT}`, parts: [{ content_type: 'text/plain', content }] }),
      );
      return `http://${host}/resources/${id}`;
    });
  },
  forget() {
    sessions.clear();
    resources.clear();
  },
  async read(history: readonly string[]) {
    const messages: { role: string; text: string }[] = [];
    for (const url of history) {
      try {
        const message = await load(url);
        messages.push({ role: message.role, text: plainText(message) });
      } catch (error) {
        messages.push({
          role: 'gap',
          text: `${url.split('?', 1)[0]}: ${(error as Error).message.split(' for url', 1)[0]}`,
        });
      }
    }
    return messages;
  },
});
