// An ACP v1 agent for tests of everything around sessions: it keeps them in a file, so that another process of it knows them, and offers exactly what it is told to.
// Usage: node sessionAgent.js JSON [--login]; $AGENT_LOG: its log. With --login it is the sign-in that a terminal runs: it leaves the mark of a signed-in user and exits.
// What the client calls without being offered it ends the agent with status 9 and a line "VIOLATION …" on stderr.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { at } from '../../../src/demo/input';
import { AgentWire } from './agentWire';

export interface SessionAgentScript {
  /** The file that its sessions are kept in. */
  readonly store: string;
  /** Names below `sessionCapabilities`: list, resume, fork, close, delete, title, archive, additionalDirectories. */
  readonly offers?: readonly string[];
  readonly load?: boolean;
  readonly logout?: boolean;
  readonly mcp?: { readonly http?: boolean; readonly sse?: boolean };
  readonly ready?: boolean;
  /**
   * When the past is repeated for session/load: before its answer (default), after it, half and half, in two bursts long after it, or for session/ready. The last
   * two give the session the title "repeated" at the end.
   */
  readonly replay?: 'before' | 'after' | 'both' | 'late' | 'ready';
  /** session/resume repeats the past before its answer, as it must not. */
  readonly resumeReplays?: boolean;
  /** Each repeated turn comes with its states and its turn_complete. */
  readonly states?: boolean;
  /** A session that is loaded works on: it says so, and goes on after its answer, up to the title "worked". */
  readonly worksOn?: boolean;
  /** session/fork repeats the past of the new session before the answer that names it. */
  readonly forkReplays?: boolean;
  readonly pageSize?: number;
  /** The modes of each session; it is in the first one whenever it is opened. */
  readonly modes?: readonly string[];
  readonly authMethods?: readonly unknown[];
  /** The file that says that somebody has signed in; without it all may use the agent. */
  readonly signedIn?: string;
  /** What is refused without a sign-in. Default: session/new, load, resume and fork. */
  readonly authOn?: 'open' | 'prompt';
  /** Methods that are never answered. */
  readonly mute?: readonly string[];
  /** The code of the answer to an unknown session id. Default -32002. */
  readonly unknownCode?: number;
}

interface Stored {
  readonly id: string;
  readonly cwd: string;
  title?: string;
  archived?: boolean;
  /** Pairs of what was asked and answered. */
  readonly said: [string, string][];
}

class Fault extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The capability below `sessionCapabilities` that a method needs. */
const NEEDS: Readonly<Record<string, string>> = {
  'session/list': 'list',
  'session/resume': 'resume',
  'session/fork': 'fork',
  'session/close': 'close',
  'session/delete': 'delete',
  'session/set_title': 'title',
  'session/archive': 'archive',
  'session/unarchive': 'archive',
};

const script = JSON.parse(process.argv[2] ?? '{}') as SessionAgentScript;
const wire = new AgentWire(false);
/** Sessions that this process has opened. */
const open = new Set<string>();
/** Sessions that the client owes session/ready for. */
const owesReady = new Set<string>();
let sequence = 0;

function violation(reason: string): void {
  wire.log({ ev: 'violation', reason });
  wire.say(`VIOLATION ${reason}`);
  process.exit(9);
}

function load(): Stored[] {
  return existsSync(script.store) ? (JSON.parse(readFileSync(script.store, 'utf8')) as Stored[]) : [];
}

function change(apply: (sessions: Stored[]) => void): void {
  const sessions = load();
  apply(sessions);
  writeFileSync(script.store, JSON.stringify(sessions));
}

function find(id: string): Stored {
  const session = load().find((one) => one.id === id);
  if (!session) throw new Fault(script.unknownCode ?? -32002, `No session ${id}`);
  return session;
}

function update(sessionId: string, what: object): void {
  void wire.send({ method: 'session/update', params: { sessionId, update: what } });
}

function replay(session: Stored, sessionId = session.id, from = 0, to = session.said.length): void {
  for (const [asked, answered] of session.said.slice(from, to)) {
    if (script.states) update(sessionId, { sessionUpdate: 'state_update', state: 'running' });
    // In two pieces, as agents that stream replay as well.
    for (const text of [asked.slice(0, 2), asked.slice(2)])
      update(sessionId, { sessionUpdate: 'user_message_chunk', content: { type: 'text', text } });
    update(sessionId, { sessionUpdate: 'tool_call', toolCallId: 'call', title: 'Look', status: 'completed' });
    update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: answered } });
    if (!script.states) continue;
    update(sessionId, { sessionUpdate: 'turn_complete', promptRequestId: '1', stopReason: 'end_turn' });
    update(sessionId, { sessionUpdate: 'state_update', state: 'idle', stopReason: 'end_turn' });
  }
}

function entitle(sessionId: string, title: string): void {
  update(sessionId, { sessionUpdate: 'session_info_update', title });
}

/** Longer than a client waits for a repetition to go on. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 400));

async function replayLate(session: Stored): Promise<void> {
  const half = Math.ceil(session.said.length / 2);
  await pause();
  replay(session, session.id, 0, half);
  await pause();
  replay(session, session.id, half);
  entitle(session.id, 'repeated');
}

async function workOn(sessionId: string): Promise<void> {
  for (const text of ['Still ', 'at ', 'work']) {
    await pause();
    update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }
  entitle(sessionId, 'worked');
}

function opened(sessionId: string): object {
  open.add(sessionId);
  if (script.ready) owesReady.add(sessionId);
  const [currentModeId] = script.modes ?? [];
  if (currentModeId === undefined) return {};
  return { modes: { currentModeId, availableModes: script.modes?.map((id) => ({ id, name: id })) } };
}

function requireSignIn(when: 'open' | 'prompt'): void {
  const { signedIn, authOn = 'open' } = script;
  if (signedIn !== undefined && authOn === when && !existsSync(signedIn)) throw new Fault(-32000, 'Sign in first');
}

function judge(method: string, params: unknown): void {
  const needs = NEEDS[method];
  if (needs !== undefined && !script.offers?.includes(needs)) violation(`${method}, which was not advertised`);
  if (method === 'session/load' && !script.load) violation('session/load, which was not advertised');
  if (method === 'logout' && !script.logout) violation('logout, which was not advertised');
  if (['session/new', 'session/load', 'session/resume', 'session/fork'].includes(method)) {
    const servers = at(params, 'mcpServers');
    if (!Array.isArray(servers)) violation(`${method} without mcpServers`);
    for (const server of Array.isArray(servers) ? servers : []) {
      const type = at(server, 'type');
      if (type !== undefined && !at(script.mcp, String(type))) violation(`an MCP server over ${String(type)}`);
    }
    if (at(params, 'additionalDirectories') !== undefined && !script.offers?.includes('additionalDirectories'))
      violation('additionalDirectories, which were not advertised');
  }
  if (method === 'session/list' && at(params, 'archived') !== undefined && !script.offers?.includes('archive'))
    violation('the archived filter, which was not advertised');
}

function handle(method: string, params: unknown): unknown {
  const id = String(at(params, 'sessionId'));
  switch (method) {
    case 'initialize': {
      const sessionCapabilities = Object.fromEntries((script.offers ?? []).map((name) => [name, {}]));
      return {
        protocolVersion: 1,
        agentInfo: { name: 'session-agent', version: '0.0.0' },
        agentCapabilities: {
          loadSession: script.load === true,
          mcpCapabilities: script.mcp ?? {},
          sessionCapabilities: { ...sessionCapabilities, ...(script.ready && { ready: {} }) },
          ...(script.logout && { auth: { logout: {} } }),
        },
        authMethods: script.authMethods ?? [],
      };
    }
    case 'authenticate':
      if (script.signedIn !== undefined) writeFileSync(script.signedIn, '');
      return {};
    case 'logout':
      if (script.signedIn !== undefined) rmSync(script.signedIn, { force: true });
      return {};
    case 'session/new': {
      requireSignIn('open');
      const sessionId = `kept-${process.pid}-${++sequence}`;
      change((all) => all.push({ id: sessionId, cwd: String(at(params, 'cwd')), said: [] }));
      return { sessionId, ...opened(sessionId) };
    }
    case 'session/load': {
      requireSignIn('open');
      const session = find(id);
      const half = Math.ceil(session.said.length / 2);
      const { replay: when = 'before', worksOn } = script;
      if (when === 'before' || when === 'both') replay(session, id, 0, when === 'both' ? half : session.said.length);
      if (worksOn) update(id, { sessionUpdate: 'state_update', state: 'running' });
      return opened(id);
    }
    case 'session/resume':
      requireSignIn('open');
      if (script.resumeReplays) replay(find(id));
      find(id);
      return opened(id);
    case 'session/fork': {
      requireSignIn('open');
      const origin = find(id);
      const sessionId = `fork-${process.pid}-${++sequence}`;
      if (script.forkReplays) replay(origin, sessionId);
      change((all) => all.push({ ...origin, id: sessionId }));
      return { sessionId, ...opened(sessionId) };
    }
    case 'session/list': {
      const { pageSize = 100 } = script;
      const cwd = at(params, 'cwd');
      const wantsArchived = at(params, 'archived') === 'only';
      const from = Number(at(params, 'cursor') ?? 0);
      const all = load().filter(
        (one) => (cwd === undefined || one.cwd === cwd) && (one.archived === true) === wantsArchived,
      );
      const sessions = all.slice(from, from + pageSize).map(({ id: sessionId, cwd, title }) => ({
        sessionId,
        cwd,
        ...(title && { title }),
        updatedAt: '2026-11-01T10:00:00Z',
      }));
      return { sessions, ...(from + pageSize < all.length && { nextCursor: String(from + pageSize) }) };
    }
    case 'session/delete':
      change((all) => all.splice(0, all.length, ...all.filter((one) => one.id !== id)));
      return {};
    case 'session/set_mode':
      return {};
    case 'session/close':
      open.delete(id);
      return {};
    case 'session/set_title': {
      find(id);
      const title = `${String(at(params, 'title'))}!`;
      change((all) => {
        for (const one of all) if (one.id === id) one.title = title;
      });
      return { title };
    }
    case 'session/archive':
    case 'session/unarchive':
      change((all) => {
        for (const one of all) if (one.id === id) one.archived = method === 'session/archive';
      });
      return {};
    case 'session/prompt': {
      if (!open.has(id)) throw new Fault(-32002, `No session ${id}`);
      if (owesReady.has(id)) violation('session/prompt before session/ready');
      requireSignIn('prompt');
      const text = String(at((at(params, 'prompt') as unknown[])[0], 'text'));
      update(id, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `Heard ${text}` } });
      change((all) => {
        all.find((one) => one.id === id)?.said.push([text, `Heard ${text}`]);
      });
      return { stopReason: 'end_turn' };
    }
    default:
      throw new Fault(-32601, `Method not found: ${method}`);
  }
}

async function respond(id: unknown, method: string, params: unknown): Promise<void> {
  judge(method, params);
  if (script.mute?.includes(method)) return;
  try {
    await wire.send({ id, result: handle(method, params) });
  } catch (error) {
    const fault = error instanceof Fault ? error : new Fault(-32603, String(error));
    await wire.send({ id, error: { code: fault.code, message: fault.message } });
    return;
  }
  if (method === 'session/load' && (script.replay === 'after' || script.replay === 'both')) {
    const session = find(String(at(params, 'sessionId')));
    replay(session, session.id, script.replay === 'both' ? Math.ceil(session.said.length / 2) : 0);
  }
  if (method !== 'session/load') return;
  const session = find(String(at(params, 'sessionId')));
  if (script.replay === 'late') await replayLate(session);
  if (script.worksOn) await workOn(session.id);
}

function notified(method: string, params: unknown): void {
  if (method !== 'session/ready') return;
  if (!owesReady.delete(String(at(params, 'sessionId')))) violation('session/ready that was not owed');
  const session = load().find((one) => one.id === at(params, 'sessionId'));
  if (!session?.said.length || script.replay !== 'ready') return;
  replay(session);
  entitle(session.id, 'repeated');
}

if (process.argv.includes('--login')) {
  wire.log({ ev: 'login', argv: process.argv.slice(3), token: process.env.LOGIN_TOKEN });
  if (process.env.LOGIN_TOKEN === undefined) process.exit(3);
  if (script.signedIn !== undefined) writeFileSync(script.signedIn, '');
  process.exit(0);
}

wire.log({ ev: 'start', argv: process.argv.slice(3), token: process.env.LOGIN_TOKEN });
wire.listen(
  (line) => {
    const message = JSON.parse(line) as Record<string, unknown>;
    wire.log({ dir: 'in', msg: message });
    const { id, method, params } = message;
    if (typeof method !== 'string') return;
    if (id === undefined) notified(method, params);
    else void respond(id, method, params);
  },
  () => {
    wire.log({ ev: 'stdin-end' });
    process.exit(0);
  },
);
