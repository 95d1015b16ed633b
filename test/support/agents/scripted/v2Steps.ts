// The steps of a script in version 2, one a line; the table at the end lists them. `@echo`,
// `@receipt` and their like speak of the prompt that was taken last.
import { at } from '../../../../src/base/untrusted';
import type { AgentWire } from '../agentWire';

export interface Prompt {
  readonly id: unknown;
  readonly text: string;
  readonly content: readonly unknown[];
  readonly messageId: string;
}

export interface StepHost {
  readonly wire: AgentWire;
  update(update: object): Promise<void>;
  ask(method: string, params: object): Promise<Record<string, unknown>>;
  nextPrompt(): Prompt | undefined;
  promptArrives(): Promise<void>;
  cancelComes(): Promise<void>;
}

export class V2Program {
  readonly host: StepHost;
  prompt: Prompt;
  /** Its id on the wire of what the agent says next. */
  messages = 0;

  constructor(host: StepHost, prompt: Prompt) {
    this.host = host;
    this.prompt = prompt;
  }

  async run(text: string): Promise<void> {
    for (const line of text.split('\n')) {
      const [, name = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(line) ?? [];
      if (Object.hasOwn(STEPS, name)) await STEPS[name]?.(this, rest);
    }
  }

  state(state: string, more: object = {}): Promise<void> {
    return this.host.update({ sessionUpdate: 'state_update', state, ...more });
  }
}

export function isProgram(text: string): boolean {
  return Object.hasOwn(STEPS, text.split(/\s/)[0] ?? '');
}

function answer({ host, prompt }: V2Program, body: object): Promise<void> {
  return Promise.resolve(host.wire.send({ id: prompt.id, ...body }));
}

function json(rest: string): Record<string, unknown> {
  return JSON.parse(rest) as Record<string, unknown>;
}

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const STEPS: Record<string, (program: V2Program, rest: string) => Promise<void>> = {
  // How the prompt is taken in.
  echo: ({ host, prompt: { messageId, content } }) =>
    host.update({ sessionUpdate: 'user_message', messageId, content }),
  /** The echo, in two pieces. */
  'echo-chunks': async ({ host, prompt: { messageId, text } }) => {
    for (const part of [text.slice(0, 7), text.slice(7)])
      await host.update({ sessionUpdate: 'user_message_chunk', messageId, content: { type: 'text', text: part } });
  },
  /** An echo in the agent's own words. */
  'echo-as': ({ host, prompt: { messageId } }, rest) =>
    host.update({ sessionUpdate: 'user_message', messageId, content: [{ type: 'text', text: rest }] }),
  receipt: (program) => answer(program, { result: { messageId: program.prompt.messageId } }),
  /** `{}`, as the summer's draft had it; also with a reason, as v1 has it. */
  'receipt-as': (program, rest) => answer(program, { result: JSON.parse(rest) as unknown }),
  refuse: (program, rest) => answer(program, { error: { code: Number(rest), message: 'refused' } }),

  // Other prompts.
  'await-prompt': ({ host }) => host.promptArrives(),
  take: async (program) => {
    program.prompt = program.host.nextPrompt() ?? program.prompt;
  },
  'await-cancel': ({ host }) => host.cancelComes(),

  // States.
  running: (program) => program.state('running'),
  idle: (program, rest) => program.state('idle', rest === '' ? {} : { stopReason: rest }),
  state: (program, rest) => {
    const { state, ...more } = json(rest);
    return program.state(String(state), more);
  },
  'state-change': ({ host }, rest) => host.update({ sessionUpdate: 'state_change', ...json(rest) }),
  'turn-complete': ({ host, prompt }) =>
    host.update({ sessionUpdate: 'turn_complete', promptRequestId: String(prompt.id), stopReason: 'end_turn' }),

  // Output.
  say: ({ host, prompt }, rest) =>
    host.update({
      sessionUpdate: 'agent_message_chunk',
      messageId: `a-${prompt.messageId}`,
      content: { type: 'text', text: rest },
    }),
  update: ({ host }, rest) => host.update(json(rest)),
  permission: async (program, rest) => {
    const { result, error } = await program.host.ask('session/request_permission', { options: OPTIONS, ...json(rest) });
    await STEPS.say?.(
      program,
      `permission ${String(at(result, 'outcome', 'optionId') ?? at(result, 'outcome', 'outcome') ?? error)}`,
    );
  },
  /** Asks for permission and does not wait for the answer. */
  'ask-permission': async ({ host }, rest) => {
    void host.ask('session/request_permission', { options: OPTIONS, ...json(rest) });
  },
};
