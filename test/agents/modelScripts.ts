// What the scripted model answers, whatever dialect it is asked in. A prompt names a script; how
// many tools were called since then says which step of it is next.

/** One piece of an answer. `slow` is text that keeps coming for this many tenths of a second. */
export type Part =
  | { readonly text: string }
  | { readonly think: string }
  | { readonly slow: number }
  | {
      readonly call: {
        readonly name: string;
        readonly namespace?: string;
        readonly input: Readonly<Record<string, unknown>>;
      };
    };

/** One message of the conversation so far. */
export interface Said {
  readonly role: 'user' | 'model' | 'tool';
  readonly text: string;
}

/** A tool that the agent offers to the model. */
export interface Tool {
  readonly name: string;
  /** Where the agent groups its tools. */
  readonly namespace?: string;
  readonly schema: unknown;
}

interface Act {
  readonly tool: 'write' | 'read' | 'edit' | 'command';
  readonly path?: string;
  readonly isPatch?: true;
  /** The text to write, to run, or to put in the place of `old`. */
  readonly text?: string;
  readonly old?: string;
}

/** A call of a tool by a part of its name. */
interface NamedAct {
  readonly named: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A subagent that plays its own script. */
interface Delegation {
  readonly subagent: string;
  readonly plays: string;
}

/** An HTTP status in place of an answer. */
interface Failure {
  readonly status: number;
}

type Step = readonly (Part | Act | NamedAct | Delegation | Failure)[];

/** Thrown by {@link reply}: the request gets this HTTP status. */
export class ModelFailure extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`The script says ${status}`);
    this.status = status;
  }
}

/** The scripts by name, each a list of answers. */
const scripts = {
  text: [
    [
      {
        text: 'Hello from the **scripted** model.\n\n- one\n- two\n\n```ts\nconst answer: number = 42;\n```\n\nThat was all of it.\n',
      },
    ],
  ],
  think: [[{ think: 'I am thinking about this, step by step.' }, { text: 'I have thought about it.' }]],
  write: [
    [{ text: 'I will write a file.' }, { tool: 'write', path: 'written.txt', text: 'line one\nline two\n' }],
    [{ text: 'The script is over.' }],
  ],
  command: [
    [{ text: 'I will run a command.' }, { tool: 'command', text: 'echo out-42; touch ran.txt' }],
    [{ text: 'The script is over.' }],
  ],
  // What no agent takes for harmless.
  remove: [[{ tool: 'command', text: 'rm kept.txt' }], [{ text: 'The script is over.' }]],
  slow: [[{ slow: 600 }]],
  brief: [[{ slow: 80 }]],
  // A command that takes a while, between two texts that do.
  long: [
    [{ slow: 40 }, { tool: 'command', text: 'touch ran.txt; sleep 4' }],
    [{ slow: 40 }, { text: 'The script is over.' }],
  ],
  badRequest: [[{ status: 400 }]],
  unauthorized: [[{ status: 401 }]],
  unavailable: [[{ status: 500 }]],
  // Without a variable, which OpenClaw refuses.
  wait: [[{ tool: 'command', text: 'echo it waits; sleep 600; echo it is over' }], [{ text: 'The script is over.' }]],
  // Each way in which files change: by the agent's own tool, and by a command behind its back.
  change: [
    [{ text: 'I will look at the file.' }, { tool: 'read', path: 'edited.txt' }],
    [{ tool: 'edit', path: 'edited.txt', old: 'line 3\n', text: 'line three\n' }],
    [
      {
        tool: 'command',
        text: 'sed -i "s/^line 30$/line thirty/" edited.txt && sed -i s/two/2/ by-command.txt && mv old-name.txt new-name.txt && rm gone.txt',
      },
    ],
    [{ text: 'The script is over.' }],
  ],
  // Two subagents in parallel, which read and run something.
  delegate: [
    [
      { text: 'I will ask others.' },
      { subagent: 'Explore the files', plays: 'explore' },
      { subagent: 'Check the seed', plays: 'check' },
    ],
    [{ text: 'The script is over.' }],
  ],
  explore: [
    [{ text: 'I look around.' }, { tool: 'read', path: 'seed.txt' }],
    [{ tool: 'command', text: 'touch explored.txt' }],
    [{ text: 'I have found three words.' }],
  ],
  check: [[{ tool: 'read', path: 'seed.txt' }], [{ text: 'The seed is good.' }]],
  ask: [
    [
      {
        named: 'ask_user',
        input: {
          questions: [
            {
              question: 'Which colour?',
              options: [
                { label: 'Red', description: 'Warm' },
                { label: 'Blue', description: 'Cold' },
              ],
            },
          ],
        },
      },
    ],
    [{ text: 'The script is over.' }],
  ],
  plan: [
    [{ named: 'enter_plan_mode', input: {} }],
    [{ named: 'exit_plan_mode', input: {} }],
    [{ text: 'The script is over.' }],
  ],
  editor: [
    [{ named: 'get_diagnostics', input: { path: 'src/user.ts' } }],
    [{ named: 'find_references', input: { symbol: 'area', path: 'src/area.ts' } }],
    [{ named: 'go_to_definition', input: { symbol: 'area', path: 'src/user.ts', line: 1 } }],
    [{ named: 'rename_symbol', input: { symbol: 'area', path: 'src/area.ts', new_name: 'surface' } }],
    [{ text: 'The script is over.' }],
  ],
} as const satisfies Record<string, readonly Step[]>;

export type ScriptName = keyof typeof scripts;

/** The prompt that starts a script. @param cwd the folder for files that it writes */
export function scriptPrompt(script: ScriptName, cwd: string): string {
  return `Play script <${script}> in ${JSON.stringify(cwd)} now.`;
}

/**
 * The next answer of a conversation. Agents also ask for titles and summaries, without tools or a
 * script: they get a few words.
 * @throws ModelFailure if the script says so
 */
export function reply(said: readonly Said[], tools: readonly Tool[]): readonly Part[] {
  let started = said.length - 1;
  while (started >= 0 && !marker(said[started])) started--;
  const found = marker(said[started]);
  if (found === undefined || tools.length === 0) return [{ text: 'Scripted conversation' }];
  const steps: readonly Step[] = scripts[found.script];
  const step = steps[Math.min(toolRounds(said.slice(started + 1)), steps.length - 1)] ?? [];
  return step.map((part) => {
    if ('status' in part) throw new ModelFailure(part.status);
    return 'tool' in part
      ? bind(part, tools, found.cwd)
      : 'named' in part
        ? bindNamed(part, tools)
        : 'subagent' in part
          ? bindSubagent(part, tools, found.cwd)
          : part;
  });
}

function marker(said: Said | undefined): { script: ScriptName; cwd: string } | undefined {
  if (said?.role !== 'user') return undefined;
  const [, script = '', cwd = '""'] =
    [...said.text.matchAll(/Play script <(\w+)> in ("(?:[^"\\]|\\.)*") now/g)].pop() ?? [];
  return Object.hasOwn(scripts, script) ? { script: script as ScriptName, cwd: JSON.parse(cwd) } : undefined;
}

/** How many groups of tool results there are. */
function toolRounds(said: readonly Said[]): number {
  return said.filter(({ role }, index) => role === 'tool' && said[index - 1]?.role !== 'tool').length;
}

const names = {
  write: /^(write(_file)?|create)$/i,
  read: /^read(_file)?$/i,
  edit: /^(edit|replace)$/i,
  command: /^(bash|run_shell_command|run_terminal_command|exec(_command)?|execute(_command)?)$/i,
};
const keys = {
  path: ['file_path', 'filePath', 'path'],
  text: ['content'],
  old: ['old_string', 'oldString'],
  new: ['new_string', 'newString'],
  command: ['command', 'cmd'],
};

interface Property {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
}

/** Agents put the name of the server before that of the tool, or after it. */
function bindNamed({ named, input }: NamedAct, tools: readonly Tool[]): Part {
  const tool = tools.find(({ name }) => name.includes(named));
  if (!tool) return { text: `(There is no tool ${named}.)` };
  const { name, namespace } = tool;
  return { call: { name, input, ...(namespace !== undefined && { namespace }) } };
}

/** Of the agents that have a tool for it, only Claude is asked. */
function bindSubagent({ subagent, plays }: Delegation, tools: readonly Tool[], cwd: string): Part {
  const name = tools.find((one) => /^(task|agent)$/i.test(one.name))?.name;
  if (name === undefined) return { text: '(There is no tool for subagents.)' };
  const prompt = scriptPrompt(plays as ScriptName, cwd);
  return { call: { name, input: { description: subagent, prompt, subagent_type: 'general-purpose' } } };
}

/** Finds the agent's own tool for what is to be done, and its own words for the arguments. */
function bind(act: Act, tools: readonly Tool[], cwd: string): Part {
  const tool = tools.find(({ name }) => names[act.tool].test(name));
  if (tool === undefined && act.tool === 'write' && tools.some(({ name }) => names.command.test(name)))
    return bind(
      { tool: 'command', isPatch: true, text: patchCommand(`${cwd}/${act.path}`, act.text ?? '') },
      tools,
      cwd,
    );
  if (tool === undefined) return { text: `(There is no tool for ${act.tool}.)` };
  const { properties = {}, required = [] } = tool.schema as {
    properties?: Record<string, Property>;
    required?: readonly string[];
  };
  const key = (candidates: readonly string[]): string =>
    candidates.find((name) => name in properties) ?? candidates[0] ?? '';
  const input: Record<string, unknown> =
    act.tool === 'command' ? { [key(keys.command)]: act.text } : { [key(keys.path)]: `${cwd}/${act.path}` };
  if (act.tool === 'write') input[key(keys.text)] = act.text;
  if (act.tool === 'edit') Object.assign(input, { [key(keys.old)]: act.old, [key(keys.new)]: act.text });
  // Else an agent with its own sandbox runs the command in there, and never asks.
  if (act.tool === 'command' && !act.isPatch && 'sandbox_permissions' in properties)
    input.sandbox_permissions = 'require_escalated';
  for (const name of required) if (!(name in input)) input[name] = anyValue(properties[name]);
  return { call: { name: tool.name, input } };
}

/**
 * The command with which agents that only have a shell add a file: they carry it out as a change to
 * a file, not in a shell.
 */
function patchCommand(path: string, text: string): string {
  const lines = text.trimEnd().split('\n');
  const added = lines.map((line) => `+${line}`).join('\n');
  return `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n${added}\n*** End Patch\nEOF`;
}

function anyValue({ type, enum: values }: Property = {}): unknown {
  if (values !== undefined) return values[0];
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 1;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return 'scripted';
}
