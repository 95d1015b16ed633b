// Plays of the scripted agent: what it does when a prompt names one.
import type { AgentWire } from '../agentWire';
import { sleep } from '../program';
import type { AgentScript } from '../script';
import { diskPlays } from './diskPlays';
import { elicitationPlays } from './elicitationPlays';
import { flood } from './flood';
import type { Asking } from './host';
import { terminalPlays } from './terminalPlays';
import { everyUpdate, malformedUpdates, unknownUpdates } from './updates';

type Ask = (method: string, params: object) => Asking;

export class AgentTurn {
  readonly sessionId: string;
  readonly requestId: unknown;
  readonly wire: AgentWire;
  readonly afterwards: (() => Promise<void>)[] = [];
  stopReason = 'end_turn';
  failure: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
  readonly #script: AgentScript;
  readonly #ask: Ask;
  readonly #open = new Map<Asking, (message: Record<string, unknown>) => void>();
  readonly #abort = new AbortController();

  constructor(sessionId: string, requestId: unknown, wire: AgentWire, script: AgentScript, ask: Ask) {
    this.sessionId = sessionId;
    this.requestId = requestId;
    this.wire = wire;
    this.#script = script;
    this.#ask = ask;
  }

  get cancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cancel(): void {
    const { onCancel = 'wait' } = this.#script;
    if (onCancel === 'ignore') return;
    this.#abort.abort();
    if (onCancel === 'wait') return;
    for (const [asking, settle] of this.#open) {
      if (onCancel === 'withdraw') asking.withdraw();
      settle({ error: { code: -32800, message: 'the agent stopped waiting' } });
    }
  }

  async update(update: object): Promise<void> {
    await this.wire.send({ method: 'session/update', params: { sessionId: this.sessionId, update } });
  }

  async say(text: string): Promise<void> {
    await this.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    const asking = this.#ask(method, params);
    const stopped = new Promise<Record<string, unknown>>((resolve) => this.#open.set(asking, resolve));
    try {
      return await Promise.race([asking.answer, stopped]);
    } finally {
      this.#open.delete(asking);
    }
  }

  async askAloud(label: string, method: string, params: object): Promise<unknown> {
    const { result, error } = await this.ask(method, params);
    await this.say(`${label} → ${JSON.stringify(error ?? result)}\n`);
    return result;
  }

  async askAndWithdraw(method: string, params: object): Promise<void> {
    const asking = this.#ask(method, params);
    asking.withdraw();
    const { result, error } = await asking.answer;
    await this.say(`withdrawn → ${JSON.stringify(error ?? result)}\n`);
  }
}

export async function play(turn: AgentTurn, text: string): Promise<void> {
  for (const line of text.split('\n')) {
    if (turn.cancelled) return;
    const [, name = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(line) ?? [];
    const step = Object.hasOwn(plays, name) ? plays[name] : undefined;
    if (step) await step(turn, rest);
    else if (line.trim() !== '') await turn.say(`Echo: ${line.slice(0, 200)}\n`);
  }
}

export type Play = (turn: AgentTurn, rest: string) => Promise<void>;

const usualOptions = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
];

function permission(id: string, title: string, extra: object = {}): object {
  return {
    toolCall: { toolCallId: id, title, kind: 'execute', status: 'pending', rawInput: { command: title } },
    options: usualOptions,
    ...extra,
  };
}

function json(rest: string): Record<string, unknown> {
  return rest === '' ? {} : (JSON.parse(rest) as Record<string, unknown>);
}

async function openTool(turn: AgentTurn): Promise<void> {
  await turn.update({
    sessionUpdate: 'tool_call',
    toolCallId: 'open',
    title: 'Left open',
    kind: 'execute',
    status: 'in_progress',
  });
}

const plays: Record<string, Play> = {
  ...terminalPlays,
  ...elicitationPlays,
  ...diskPlays,
  flood: (turn, rest) => flood(turn, 'flood', rest),
  tools: (turn, rest) => flood(turn, 'tools', rest),
  long: (turn, rest) => flood(turn, 'long', rest),

  // Text and updates.
  say: (turn, rest) => turn.say(rest),
  think: (turn, rest) =>
    /^\d+ \d+/.test(rest)
      ? flood(turn, 'think', rest)
      : turn.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: rest } }),
  chunks: async (turn, rest) => {
    for (let index = 1; index <= Number(rest); index++) {
      await turn.update({
        sessionUpdate: 'agent_message_chunk',
        messageId: 'chunks',
        content: { type: 'text', text: `chunk-${index} ` },
      });
    }
  },
  update: (turn, rest) => turn.update(json(rest)),
  'all-updates': async (turn) => {
    for (const update of everyUpdate) await turn.update(update);
  },
  'unknown-updates': async (turn) => {
    for (const update of unknownUpdates) await turn.update(update);
  },
  malformed: async (turn) => {
    for (const update of malformedUpdates)
      await turn.wire.send({ method: 'session/update', params: { sessionId: turn.sessionId, update } });
  },
  'unknown-session': async (turn) => {
    const update = {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: 'for a session that nobody knows' },
    };
    await turn.wire.send({ method: 'session/update', params: { sessionId: 'nobody-knows-me', update } });
    await turn.wire.send({ method: 'session/update', params: { update } });
  },

  // The wire.
  line: async (turn, rest) => turn.wire.text(`${rest}\n`),
  /** `huge MB`: one message of this many megabytes. */
  huge: async (turn, rest) => {
    const megabytes = Number(rest || 40);
    await turn.say('x'.repeat(megabytes * 1024 * 1024));
  },
  batch: async (turn) =>
    turn.wire.text('[{"jsonrpc":"2.0","method":"session/update","params":{}},{"jsonrpc":"2.0","id":1,"method":"x"}]\n'),
  notify: async (turn, rest) => {
    const [, method = '', params = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
    await turn.wire.send({ method, params: json(params) });
  },
  request: async (turn, rest) => {
    const [, method = '', params = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
    await turn.askAloud(method, method, json(params));
  },
  stderr: async (turn, rest) => turn.wire.program.warn(rest),

  // Permissions.
  permission: async (turn, rest) => {
    await turn.askAloud('permission', 'session/request_permission', permission('asked', 'touch a-file', json(rest)));
  },
  'permission-none': async (turn) => {
    await turn.askAloud(
      'permission',
      'session/request_permission',
      permission('asked', 'touch a-file', { options: [] }),
    );
  },
  'two-permissions': async (turn) => {
    await Promise.all([
      turn.askAloud('first', 'session/request_permission', permission('one', 'touch one')),
      turn.askAloud('second', 'session/request_permission', permission('two', 'touch two')),
    ]);
  },
  withdraw: (turn) => turn.askAndWithdraw('session/request_permission', permission('asked', 'touch a-file')),

  // Files: `read PATH [LINE] [LIMIT]`, `write PATH TEXT`. A path with spaces is given as JSON text.
  read: async (turn, rest) => {
    const [path, line, limit] = words(rest);
    const range = { ...(line && { line: Number(line) }), ...(limit && { limit: Number(limit) }) };
    await turn.askAloud('read', 'fs/read_text_file', { path, ...range });
  },
  write: async (turn, rest) => {
    const [path, ...text] = words(rest);
    await turn.askAloud('write', 'fs/write_text_file', { path, content: text.join(' ').replaceAll('\\n', '\n') });
  },

  // Ends.
  stop: async (turn, rest) => {
    turn.stopReason = rest;
  },
  error: async (turn, rest) => {
    const [code, ...message] = words(rest);
    turn.failure = { code: Number(code || -32603), message: message.join(' ') || 'The scripted agent failed.' };
  },
  wait: async (turn) => {
    if (!turn.cancelled)
      await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve(), { once: true }));
  },
  sleep: async (turn, rest) => {
    await Promise.race([sleep(Number(rest)), plays.wait?.(turn, '')]);
  },
  die: async (turn, rest) => {
    await turn.say('These are my last words');
    await openTool(turn);
    turn.wire.program.warn('agent: something went terribly wrong');
    if (rest.startsWith('SIG')) turn.wire.program.kill(rest as NodeJS.Signals);
    else turn.wire.program.exit(Number(rest || 3));
    await new Promise(() => {}); // the signal is on its way
  },
  /** Half a message, and then its end. */
  'half-line': async (turn) => {
    await turn.wire.text('{"jsonrpc":"2.0","method":"session/upd');
    turn.wire.program.kill('SIGKILL');
    await new Promise(() => {});
  },
  deaf: async (turn) => {
    await turn.say('I will say nothing more');
    turn.wire.program.closeStdout();
    turn.wire.program.stay();
    await new Promise(() => {});
  },
  unreadable: async ({ wire: { program } }) => {
    program.stay();
    program.closeStdin();
  },
  'leave-open': openTool,

  // What comes after the end of the turn: `late chunk`, `late tool`.
  late: async (turn, rest) => {
    if (rest === 'tool') await openTool(turn);
    const done = { sessionUpdate: 'tool_call_update', toolCallId: 'open', status: 'completed' };
    turn.afterwards.push(() => (rest === 'tool' ? turn.update(done) : turn.say('late text')));
  },
};

function words(rest: string): string[] {
  if (!rest.startsWith('"')) return rest.split(' ').filter((word) => word !== '');
  const end = rest.indexOf('"', 1);
  return [rest.slice(1, end), ...words(rest.slice(end + 1).trim())];
}
