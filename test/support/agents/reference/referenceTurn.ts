// What happens in a turn of the reference agent, by the lines of its prompt; the same plays in both
// versions, each in its own words.
import { at } from '../../../../src/base/untrusted';

export interface TurnHost {
  readonly version: 1 | 2;
  update(update: object): void;
  state(state: string, more?: object): void;
  ask(method: string, params: object): Promise<Record<string, unknown>>;
  askAndWithdraw(method: string, params: object): Promise<Record<string, unknown>>;
  stoppable(id: string): void;
  notify(method: string, params: object): void;
}

export class ReferenceTurn {
  stopReason = 'end_turn';
  failure: { readonly code: number; readonly message: string } | undefined;
  readonly afterwards: (() => Promise<void> | void)[] = [];
  readonly #host: TurnHost;
  readonly #number: number;
  readonly #abort = new AbortController();

  constructor(host: TurnHost, number: number) {
    this.#host = host;
    this.#number = number;
  }

  get cancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  cancel(): void {
    this.#abort.abort();
  }

  async play(text: string): Promise<void> {
    for (const line of text.split('\n')) {
      if (this.cancelled) return;
      const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(line) ?? [];
      await this.#step(word, rest);
    }
  }

  say(text: string, messageId = `a${this.#number}`): void {
    this.#host.update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
  }

  async #step(word: string, rest: string): Promise<void> {
    const host = this.#host;
    switch (word) {
      case 'say':
        return this.say(rest);
      case 'burst':
        for (let index = 1; index <= Number(rest); index++) this.say(`b${index} `);
        return;
      case 'update':
        return host.update(JSON.parse(rest) as object);
      case 'tool':
        return this.#tool(rest || 'tool', 'in_progress', true);
      case 'tool-done':
        return this.#tool(rest || 'tool', 'completed', false);
      case 'state':
        return host.state(rest);
      case 'ask':
        return this.#ask();
      case 'withdraw':
        return this.#tell('withdrawn', await host.askAndWithdraw('session/request_permission', this.#question()));
      case 'request': {
        const [, method = '', params = '{}'] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
        return this.#tell(method, await host.ask(method, JSON.parse(params || '{}') as object));
      }
      case 'complete':
        return host.notify('elicitation/complete', { elicitationId: rest });
      case 'signed-out':
        return host.notify('auth/status_update', { state: 'unauthenticated' });
      case 'terminal':
        return this.#terminal();
      case 'terminal-stoppable':
        host.stoppable(rest);
        return host.update({ sessionUpdate: 'terminal_update', terminalId: rest, capabilities: { cancel: {} } });
      case 'wait':
        if (!this.cancelled)
          await new Promise<void>((resolve) =>
            this.#abort.signal.addEventListener('abort', () => resolve(), { once: true }),
          );
        return;
      case 'stop':
        this.stopReason = rest;
        return;
      case 'fail':
        this.failure = { code: Number(rest || -32603), message: 'The reference agent was told to fail.' };
        return;
      case 'later':
        this.afterwards.push(() => this.say(rest, `late${this.#number}`));
        return;
      case 'agent-turn':
        this.afterwards.push(async () => {
          host.state('running');
          this.say(rest, `own${this.#number}`);
          host.state('idle', { stopReason: 'end_turn' });
        });
        return;
      default:
        this.say(`Echo: ${word} ${rest}`.trim());
    }
  }

  async #ask(): Promise<void> {
    this.#host.state('requires_action');
    const answer = await this.#host.ask('session/request_permission', this.#question());
    this.#host.state('running');
    this.#tell('permission', answer);
  }

  async #terminal(): Promise<void> {
    const program = 'console.log("out of the terminal"); setInterval(() => {}, 60000)';
    const created = await this.#host.ask('terminal/create', { command: process.execPath, args: ['-e', program] });
    const terminalId = at(created.result, 'terminalId');
    let output = '';
    while (!output.includes('\n'))
      output = String(at((await this.#host.ask('terminal/output', { terminalId })).result, 'output'));
    this.say(output);
    const exit = this.#host.ask('terminal/wait_for_exit', { terminalId });
    await this.#host.ask('terminal/kill', { terminalId });
    await exit;
    await this.#host.ask('terminal/release', { terminalId });
  }

  #tell(label: string, { result, error }: Record<string, unknown>): void {
    if (this.cancelled) return;
    const outcome = at(result, 'outcome', 'optionId') ?? at(result, 'outcome', 'outcome');
    this.say(`${label} → ${typeof outcome === 'string' ? outcome : JSON.stringify(result ?? error)}\n`);
  }

  #question(): object {
    const toolCall = { toolCallId: `asked${this.#number}`, title: 'touch a-file', kind: 'execute', status: 'pending' };
    const options = [
      { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    ];
    if (this.#host.version === 1) return { toolCall, options };
    return { title: 'touch a-file', subject: { type: 'tool_call', toolCall }, options };
  }

  #tool(id: string, status: string, begins: boolean): void {
    const common = { toolCallId: id, title: `Tool ${id}`, kind: 'execute', status };
    if (this.#host.version === 1) {
      this.#host.update({ sessionUpdate: begins ? 'tool_call' : 'tool_call_update', ...common });
      return;
    }
    if (begins) this.#host.stoppable(id);
    this.#host.update({ sessionUpdate: 'tool_call_update', ...common, capabilities: begins ? { cancel: {} } : null });
  }
}
