// An ACP v1 agent for tests of what a killed agent leaves behind: it plays what it is told (plays.ts) and keeps each session in a file of its own as it goes, so that
// another process of it can load or resume it. Usage: node keepingAgent.js JSON; $AGENT_LOG: its log. What it was not offered to do it refuses with -32601.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { at } from '../../../src/demo/input';
import { AgentWire } from './agentWire';
import { AgentTurn, type Asking, play } from './plays';
import type { AgentScript } from './script';

export interface KeepingScript {
  /** The folder of its sessions. */
  readonly store: string;
  /** What it can do with an old session. */
  readonly reopens?: 'load' | 'resume';
  readonly turnComplete?: boolean;
  readonly onCancel?: AgentScript['onCancel'];
  /** Its messages have ids, counted from one in each process. */
  readonly countsIds?: boolean;
  /** How long session/new, load and resume take, in milliseconds. */
  readonly opensAfterMs?: number;
}

const script = JSON.parse(process.argv[2] ?? '{}') as KeepingScript;
const cancelling: AgentScript = script.onCancel ? { onCancel: script.onCancel } : {};
const turns = new Map<string, AgentTurn>();
const answers = new Map<unknown, (message: Record<string, unknown>) => void>();
let sequence = 0;

function fileOf(sessionId: string): string {
  return join(script.store, `${sessionId}.ndjson`);
}

function keep(sessionId: string, update: unknown): void {
  appendFileSync(fileOf(sessionId), `${JSON.stringify(update)}\n`);
}

/** Keeps each update before it is said: what the client has seen, the session has. */
class KeepingWire extends AgentWire {
  override send(message: Record<string, unknown>): Promise<void> | undefined {
    const update = at(message, 'params', 'update');
    if (update === undefined) return super.send(message);
    keep(String(at(message, 'params', 'sessionId')), update);
    return this.tell(message);
  }

  /** Says an update and does not keep it. */
  tell(message: Record<string, unknown>): Promise<void> | undefined {
    const { params } = message as { readonly params: { readonly update: Record<string, unknown> } };
    const { update } = params;
    const messageId = script.countsIds ? idOf(String(update.sessionUpdate)) : undefined;
    return super.send({ ...message, params: { ...params, update: { ...update, ...(messageId && { messageId }) } } });
  }
}

let counted = 0;
let said = '';

/** The id of the message that a chunk of this kind belongs to; a message goes on until something else comes. */
function idOf(kind: string): string | undefined {
  if (!kind.endsWith('message_chunk')) return undefined;
  if (kind !== said) counted++;
  said = kind;
  return `m${counted}`;
}

const wire = new KeepingWire(false);

function ask(sessionId: string, method: string, params: object): Asking {
  const id = `agent-${++sequence}`;
  const answer = new Promise<Record<string, unknown>>((resolve) => answers.set(id, resolve));
  void wire.send({ id, method, params: { sessionId, ...params } });
  return { answer, withdraw: () => void wire.send({ method: '$/cancel_request', params: { requestId: id } }) };
}

async function prompt(id: unknown, params: unknown): Promise<object> {
  const sessionId = String(at(params, 'sessionId'));
  const content = at((at(params, 'prompt') as unknown[])[0], 'text');
  keep(sessionId, { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: content } });
  wire.log({ ev: 'kept' });
  const turn = new AgentTurn(sessionId, id, wire, cancelling, (method, extra) => ask(sessionId, method, extra));
  turns.set(sessionId, turn);
  said = ''; // an answer is a message of its own
  await play(turn, String(content));
  turns.delete(sessionId);
  const stopReason = turn.cancelled ? 'cancelled' : turn.stopReason;
  if (script.turnComplete)
    await turn.update({ sessionUpdate: 'turn_complete', promptRequestId: String(id), stopReason });
  return { stopReason };
}

/** What was said, as it was said. */
function replay(sessionId: string): void {
  for (const line of readFileSync(fileOf(sessionId), 'utf8').split('\n').slice(0, -1)) {
    const update = JSON.parse(line) as { readonly sessionUpdate: string };
    if (update.sessionUpdate !== 'turn_complete')
      void wire.tell({ method: 'session/update', params: { sessionId, update } });
  }
}

async function handle(id: unknown, method: string, params: unknown): Promise<object> {
  const sessionId = String(at(params, 'sessionId'));
  if (['session/new', 'session/load', 'session/resume'].includes(method) && script.opensAfterMs !== undefined)
    await new Promise((resolve) => setTimeout(resolve, script.opensAfterMs));
  if (method === 'initialize') {
    const sessionCapabilities = {
      ...(script.reopens === 'resume' && { resume: {} }),
      ...(script.turnComplete && { turnComplete: {} }),
    };
    return {
      protocolVersion: 1,
      agentInfo: { name: 'keeping-agent', version: '0.0.0' },
      agentCapabilities: { loadSession: script.reopens === 'load', sessionCapabilities },
      authMethods: [],
    };
  }
  if (method === 'session/new') {
    const made = `kept-${process.pid}-${++sequence}`;
    appendFileSync(fileOf(made), '');
    return { sessionId: made };
  }
  if (method === 'session/prompt') return prompt(id, params);
  if (method !== `session/${script.reopens}`) throw { code: -32601, message: `Method not found: ${method}` };
  if (!existsSync(fileOf(sessionId))) throw { code: -32002, message: `No session ${sessionId}` };
  if (script.reopens === 'load') replay(sessionId);
  return {};
}

wire.log({ ev: 'start' });
wire.listen(
  (line) => {
    const message = JSON.parse(line) as Record<string, unknown>;
    wire.log({ dir: 'in', msg: message });
    const { id, method, params } = message;
    if (typeof method !== 'string') {
      answers.get(id)?.(message);
      answers.delete(id);
    } else if (id === undefined) {
      if (method === 'session/cancel') turns.get(String(at(params, 'sessionId')))?.cancel();
    } else {
      handle(id, method, params).then(
        (result) => wire.send({ id, result }),
        (error: unknown) =>
          wire.send({ id, error: at(error, 'code') ? error : { code: -32603, message: String(error) } }),
      );
    }
  },
  () => process.exit(0),
);
