// What a real agent does where the protocol leaves it a choice, or where agents differ: tried over
// bare JSON-RPC in version 1, and told in a few words each.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { goneFrom } from '../support/processes';
import { commandsIn, descendants, kill } from '../support/vscode/processTree';
import type { ScriptName } from './modelScripts';
import { type Answer, choose, diskAnswers, type Message, RawClient, type Wild } from './rawClient';
import type { RealAgent } from './realAgents';

/** The columns of the table, in its order. */
export const FACTS = {
  sessions: 'Sessions',
  choices: 'Choices after a restart',
  cancel: 'Stop',
  second: 'Second prompt in a turn',
  commands: 'Commands and files',
  errors: 'Errors of the model',
  mcp: 'MCP servers',
} as const;

export type AgentFacts = Record<keyof typeof FACTS, string>;

/** A small MCP server, which leaves a file when it is asked for its tools. */
const MCP_SERVER = `
const { createInterface } = require('node:readline');
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } }),
  'tools/list': () => {
    require('node:fs').writeFileSync(process.argv[2], '');
    return { tools: [{ name: 'leave_note', description: 'Leaves a note', inputSchema: { type: 'object', properties: {} } }] };
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});
`;

/**
 * Tries an agent in a folder.
 * @param note gets what is tried, and what could not be found out
 */
export async function agentFacts(agent: RealAgent, cwd: string, note: (line: string) => void): Promise<AgentFacts> {
  const trial = new Trial(agent, cwd);
  const facts = {} as AgentFacts;
  const find = async (fact: keyof AgentFacts, words: () => Promise<string>): Promise<void> => {
    note(`  ${FACTS[fact]} …`);
    facts[fact] = await words().catch((error: unknown) => {
      note(`  ${FACTS[fact]}: ${String(error)}`);
      return 'not shown';
    });
  };
  try {
    await find('sessions', () => trial.sessions());
    await find('cancel', () => trial.cancel());
    await find('commands', () => trial.commands());
    await find('second', () => trial.secondPrompt());
    await find('errors', () => trial.errors());
    await find('mcp', () => trial.mcp());
    // The last, as a choice may hold for later sessions, or name a model that is out of reach.
    await find('choices', () => trial.choices());
  } finally {
    await trial.close();
  }
  return facts;
}

class Trial {
  readonly #agent: RealAgent;
  readonly #cwd: string;
  readonly #terminals = new Terminals();
  /** Methods of the client that the agent has called. */
  readonly #called = new Set<string>();
  #client: RawClient | undefined;
  #capabilities: Wild;
  /** Whether the output of a command came while it ran. */
  #isLive = false;

  constructor(agent: RealAgent, cwd: string) {
    this.#agent = agent;
    this.#cwd = cwd;
  }

  /** Sets each choice to another value, and looks at what another process says of it. */
  async choices(): Promise<string> {
    const first = await this.#restart();
    const opened = await first.request('session/new', { cwd: this.#cwd, mcpServers: [] });
    await this.#play(first, opened.sessionId, 'text');
    const wanted = new Map<string, string>();
    for (const option of opened.configOptions ?? []) {
      const value = otherThan(option.currentValue, valuesOf(option));
      if (value === undefined) continue;
      const { sessionId } = opened;
      const { error } = await first.send('session/set_config_option', { sessionId, configId: option.id, value }).answer;
      if (!error) wanted.set(option.category ?? option.id, value);
    }
    const modes: readonly string[] = (opened.modes?.availableModes ?? []).map(({ id }: Wild) => id);
    const modeId = otherThan(opened.modes?.currentModeId, modes);
    if (modeId !== undefined && !wanted.has('mode')) {
      const { error } = await first.send('session/set_mode', { sessionId: opened.sessionId, modeId }).answer;
      if (!error) wanted.set('mode', modeId);
    }
    if (wanted.size === 0) return 'none to make';
    const { load, resume } = this.#offers();
    if (!load && !resume) return 'no session to open again';
    // Some keep them with the next turn only.
    await orLate(10_000, this.#prompt(first, opened.sessionId, 'text'));
    const client = await this.#restart();
    const params = { sessionId: opened.sessionId, cwd: this.#cwd, mcpServers: [] };
    const again = await client.request(load ? 'session/load' : 'session/resume', params);
    const told = new Map<string, string>();
    const note = (options: readonly Wild[] = []): void => {
      for (const option of options) told.set(option.category ?? option.id, option.currentValue);
    };
    if (again?.modes) told.set('mode', again.modes.currentModeId);
    note(again?.configOptions);
    await sleep(1_000);
    for (const { sessionUpdate, configOptions, currentModeId } of client.updates()) {
      if (sessionUpdate === 'config_option_update') note(configOptions);
      if (sessionUpdate === 'current_mode_update') told.set('mode', currentModeId);
    }
    const names = (isKept: boolean): string =>
      [...wanted]
        .filter(([key, value]) => (told.get(key) === value) === isKept)
        .map(([key]) => key.replaceAll('_', ' '))
        .join(', ');
    return [names(true) && `${names(true)} kept`, names(false) && `${names(false)} lost`].filter(Boolean).join('; ');
  }

  /**
   * Does everything with a session that the agent offers, in other processes than the one that
   * began it.
   */
  async sessions(): Promise<string> {
    const sessionId = await this.#begin(await this.#restart());
    await this.#play(this.#running(), sessionId, 'text');
    const offers = this.#offers();
    const found: string[] = [];
    const params = { sessionId, cwd: this.#cwd, mcpServers: [] };
    if (offers.list) {
      const { sessions } = await (await this.#restart()).request('session/list', { cwd: this.#cwd });
      const isListed = (sessions as Wild[]).some((one) => one.sessionId === sessionId);
      const others = sessions.length > 0 ? 'list (by other ids)' : 'list (not by folder)';
      found.push(isListed ? 'list' : others);
    }
    if (offers.load) {
      const client = await this.#restart();
      const { error } = await client.send('session/load', params).answer;
      const early = spoken(client);
      await sleep(1_500);
      const order = spoken(client) > early ? 'load (repeats late)' : early > 0 ? 'load' : 'load (repeats nothing)';
      found.push(error ? `load fails (${error.code})` : order);
    }
    for (const method of ['resume', 'fork'] as const)
      if (offers[method]) {
        const { error } = await (await this.#restart()).send(`session/${method}`, params).answer;
        found.push(error ? `${method} fails (${error.code})` : method);
      }
    for (const method of ['close', 'delete'] as const)
      if (offers[method]) {
        const { error } = await this.#running().send(`session/${method}`, { sessionId }).answer;
        found.push(error ? `${method} fails (${error.code})` : method);
      }
    return found.join(', ') || 'none';
  }

  /** Stops an answer, and a command that runs. */
  async cancel(): Promise<string> {
    const client = await this.#restart();
    const sessionId = await this.#begin(client);
    const { length } = client.received;
    const turn = this.#prompt(client, sessionId, 'slow');
    await this.#ticks(client, length);
    const answerEnd = await this.#stopped(client, sessionId, turn);

    const from = client.received.length;
    const command = this.#prompt(client, sessionId, 'wait');
    await within(30_000, this.#runs(), 'no command begins');
    const pids = commandsIn(this.#cwd, 'sleep 600');
    await sleep(1_500);
    this.#isLive = this.#terminals.output.includes('it waits') || hasOutput(client.received.slice(from), 'it waits');
    const commandEnd = await this.#stopped(client, sessionId, command);
    const isGone = await orLate(3_000, Promise.all(pids.map(goneFrom)));
    for (const pid of commandsIn(this.#cwd, 'sleep 600')) kill(pid);
    const end = answerEnd === commandEnd ? answerEnd : `${answerEnd}, of a command ${commandEnd}`;
    const left = this.#called.has('terminal/create') ? 'is left to the client' : 'runs on';
    return `${end}; a command ${isGone ? 'ends' : left}`;
  }

  /** What came of the commands and writes so far, and of a write. */
  async commands(): Promise<string> {
    const client = await this.#restart();
    await this.#play(client, await this.#begin(client), 'write');
    const places = (way: string): string => (this.#called.has(way) ? 'client' : 'agent');
    const files = ['read', 'write'].filter((verb) => this.#called.has(`fs/${verb}_text_file`));
    return [
      `${places('terminal/create') === 'client' ? 'commands in the client' : 'own commands'}, ${this.#isLive ? 'live output' : 'output at the end'}`,
      files.length > 0 ? `${files.join('s and ')}s files through the client` : 'own files',
    ].join('; ');
  }

  /** Sends a prompt while an answer of eight seconds comes. */
  async secondPrompt(): Promise<string> {
    const client = await this.#restart();
    const sessionId = await this.#begin(client);
    const from = client.received.length;
    const first = this.#prompt(client, sessionId, 'brief');
    await this.#ticks(client, from);
    const second = this.#prompt(client, sessionId, 'text');
    const [one, two] = await Promise.all([first, second].map((answer) => orLate(25_000, answer)));
    const text = client.text('agent_message_chunk', from);
    client.notify('session/cancel', { sessionId });
    if (two === undefined) return 'never answered';
    if (two.error) return `refused (${two.error.code})`;
    const isFirstWhole = text.includes('tick80');
    const isSecondHeard = text.includes('scripted');
    if (!isSecondHeard) return `answered ${two.result?.stopReason} without a text`;
    if (isFirstWhole)
      return text.indexOf('scripted') < text.indexOf('tick80') ? 'joins the turn' : 'waits for the first';
    return one?.result?.stopReason === 'cancelled' ? 'cancels the first' : `ends the first (${outcome(one)})`;
  }

  /** Asks a model that answers with HTTP errors. */
  async errors(): Promise<string> {
    const outcomes = new Map<string, string[]>();
    for (const [status, script] of [
      ['400', 'badRequest'],
      ['401', 'unauthorized'],
      ['500', 'unavailable'],
    ] as const) {
      const client = await this.#restart();
      const sessionId = await this.#begin(client);
      const from = client.received.length;
      const answer = await orLate(12_000, this.#prompt(client, sessionId, script));
      const { error, result } = answer ?? {};
      const said = client.text('agent_message_chunk', from).trim() === '' ? 'without a text' : 'with a text';
      const words =
        answer === undefined ? 'no answer in 12 s' : error ? outcome(answer) : `${result.stopReason} ${said}`;
      outcomes.set(words, [...(outcomes.get(words) ?? []), status]);
    }
    return [...outcomes].map(([words, statuses]) => `${statuses.join(', ')}: ${words}`).join('; ');
  }

  /** Hands over a server that works, and one that is missing. */
  async mcp(): Promise<string> {
    const client = await this.#restart();
    const script = join(this.#cwd, 'mcpServer.cjs');
    const asked = join(this.#cwd, 'asked.txt');
    await rm(asked, { force: true });
    await writeFile(script, MCP_SERVER);
    const { http, sse } = this.#capabilities.mcpCapabilities ?? {};
    const server = (name: string, command: string, args: readonly string[]): object => ({
      name,
      command,
      args,
      env: [],
    });
    const opened = await client.send('session/new', {
      cwd: this.#cwd,
      mcpServers: [server('noted', process.execPath, [script, asked])],
    }).answer;
    if (opened.error) return `refuses a session with servers (${opened.error.code})`;
    await this.#play(client, opened.result.sessionId, 'text');
    const kinds = [existsSync(asked) ? 'stdio' : '', http ? 'http' : '', sse ? 'sse' : ''];
    const from = client.received.length;
    const lacking = await client.send('session/new', {
      cwd: this.#cwd,
      mcpServers: [server('lacking', join(this.#cwd, 'nothing-here'), [])],
    }).answer;
    if (!lacking.error) await this.#play(client, lacking.result.sessionId, 'text');
    const isTold = client.received.slice(from).some((one) => JSON.stringify(one).includes('lacking'));
    const missing = lacking.error ? `refuses the session (${lacking.error.code})` : isTold ? 'told' : 'not told';
    return `${kinds.filter(Boolean).join(', ') || 'none'}; a missing one: ${missing}`;
  }

  async close(): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
    this.#terminals.close();
  }

  async #runs(): Promise<void> {
    while (commandsIn(this.#cwd, 'sleep 600').length === 0) await sleep(50);
  }

  #running(): RawClient {
    if (this.#client === undefined) throw new Error('No process runs');
    return this.#client;
  }

  /** Ends the process that runs, and starts another one. */
  async #restart(): Promise<RawClient> {
    if (this.#client) {
      await this.close();
      await this.#agent.settle?.();
    }
    const client = new RawClient(this.#agent.definition, this.#cwd, this.#answers());
    this.#client = client;
    const result = await within(
      90_000,
      client.request('initialize', {
        protocolVersion: 1,
        clientInfo: { name: 'parley-tests', version: '0.0.0' },
        clientCapabilities: {
          fs: { readTextFile: true, writeTextFile: true },
          terminal: true,
          _meta: { terminal_output: true },
        },
      }),
      'initialize is not answered',
    );
    this.#capabilities = result.agentCapabilities ?? {};
    if (this.#agent.signIn) await client.request('authenticate', { methodId: this.#agent.signIn });
    return client;
  }

  #answers(): Record<string, Answer> {
    const answers: Record<string, Answer> = {
      ...diskAnswers,
      ...this.#terminals.answers,
      'session/request_permission': choose('allow'),
    };
    return Object.fromEntries(
      Object.entries(answers).map(([method, answer]) => [
        method,
        (params, id) => {
          this.#called.add(method);
          return answer(params, id);
        },
      ]),
    );
  }

  #offers(): Record<'list' | 'load' | 'resume' | 'fork' | 'close' | 'delete', boolean> {
    const { loadSession, sessionCapabilities = {} } = this.#capabilities;
    const has = (name: string): boolean => sessionCapabilities[name] != null;
    return {
      list: has('list'),
      load: loadSession === true,
      resume: has('resume'),
      fork: has('fork'),
      close: has('close'),
      delete: has('delete'),
    };
  }

  async #begin(client: RawClient): Promise<string> {
    const opened = client.request('session/new', { cwd: this.#cwd, mcpServers: [] });
    return (await within(60_000, opened, 'session/new is not answered')).sessionId;
  }

  #prompt(client: RawClient, sessionId: string, script: ScriptName): Promise<Message> {
    const prompt = [{ type: 'text', text: this.#agent.prompt(script, this.#cwd) }];
    return client.send('session/prompt', { sessionId, prompt }).answer;
  }

  /** Plays a script to its end. */
  async #play(client: RawClient, sessionId: string, script: ScriptName): Promise<void> {
    const { error } = await within(60_000, this.#prompt(client, sessionId, script), `${script} does not end`);
    if (error) throw new Error(`${script}: ${JSON.stringify(error)}`);
  }

  async #stopped(client: RawClient, sessionId: string, turn: Promise<Message>): Promise<string> {
    client.notify('session/cancel', { sessionId });
    const answer = await orLate(10_000, turn);
    return answer === undefined ? 'no end in 10 s' : outcome(answer);
  }

  /**
   * Settles when the answer of a slow script has begun, or runs for long; some agents tell it only
   * when it is whole.
   */
  #ticks(client: RawClient, from: number): Promise<unknown> {
    return orLate(
      5_000,
      client.until(() => client.text('agent_message_chunk', from).includes('tick'), from),
    );
  }
}

/** The terminals of a client. */
class Terminals {
  readonly #running = new Map<string, { readonly child: ChildProcess; text: string; readonly exit: Promise<object> }>();
  /** Of all of them. */
  output = '';

  readonly answers: Record<string, Answer> = {
    'terminal/create': ({ command, args, cwd, env = [] }) => {
      const more = Object.fromEntries(env.map(({ name, value }: Wild) => [name, value]));
      const options = { cwd, env: { ...process.env, ...more }, shell: args === undefined, detached: true };
      const child = spawn(command, args ?? [], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
      const exit = new Promise<object>((resolve) => {
        child.on('close', (exitCode, signal) => resolve({ exitCode, signal }));
        child.on('error', () => resolve({ exitCode: 127, signal: null }));
      });
      const terminal = { child, text: '', exit };
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          terminal.text += text;
          this.output += text;
        });
      const terminalId = `terminal-${this.#running.size}`;
      this.#running.set(terminalId, terminal);
      return { terminalId };
    },
    'terminal/output': async ({ terminalId }) => {
      const { child, text, exit } = this.#find(terminalId);
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      return { output: text, truncated: false, ...(hasEnded && { exitStatus: await exit }) };
    },
    'terminal/wait_for_exit': ({ terminalId }) => this.#find(terminalId).exit,
    'terminal/kill': ({ terminalId }) => this.#end(terminalId),
    'terminal/release': ({ terminalId }) => this.#end(terminalId),
  };

  close(): void {
    for (const id of this.#running.keys()) this.#end(id);
  }

  #find(id: string): { readonly child: ChildProcess; readonly text: string; readonly exit: Promise<object> } {
    const terminal = this.#running.get(id);
    if (terminal === undefined) throw new Error(`There is no terminal ${id}`);
    return terminal;
  }

  #end(id: string): object {
    const { pid } = this.#find(id).child;
    for (const one of pid === undefined ? [] : descendants(pid)) kill(one.pid);
    if (pid !== undefined) kill(pid);
    return {};
  }
}

function outcome(message: Message | undefined): string {
  if (message === undefined) return 'no answer';
  return message.error ? `error ${message.error.code}` : String(message.result?.stopReason);
}

/** How many messages of the conversation an agent has repeated. */
function spoken(client: RawClient): number {
  return client.updates().filter(({ sessionUpdate }) => /^(user|agent)_message_chunk$/.test(sessionUpdate)).length;
}

/** Whether output is in what an agent says of its calls; not in the command itself. */
function hasOutput(messages: readonly Message[], output: string): boolean {
  return messages.some(({ params }) => {
    const { sessionUpdate, rawInput: _, title: __, ...update } = params?.update ?? {};
    return /^tool_call/.test(sessionUpdate) && JSON.stringify(update).replaceAll(`echo ${output}`, '').includes(output);
  });
}

function valuesOf(option: Wild): readonly string[] {
  if (option.type !== 'select') return [];
  return option.options.flatMap((one: Wild) => one.options ?? [one]).map(({ value }: Wild) => value);
}

/** Not the first one, which an agent may take by itself. */
function otherThan(current: string | undefined, values: readonly string[]): string | undefined {
  return values.findLast((value) => value !== current);
}

/** The value of a promise, undefined if it comes too late. */
async function orLate<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  const timer = new AbortController();
  const late = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
  return Promise.race([promise, late]).finally(() => timer.abort());
}

async function within<Value>(ms: number, promise: Promise<Value>, otherwise: string): Promise<Value> {
  const done = await orLate(
    ms,
    promise.then((value) => ({ value })),
  );
  if (done === undefined) throw new Error(otherwise);
  return done.value;
}
