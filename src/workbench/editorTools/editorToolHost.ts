// Provides sessions with the tools that the settings allow for their agent, within their folders.

import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import {
  CancellationTokenSource,
  type ExtensionContext,
  type LanguageModelToolInformation,
  l10n,
  lm,
  ProcessExecution,
  ShellExecution,
  type Task,
  TaskScope,
  tasks,
  workspace,
} from 'vscode';
import * as z from 'zod/mini';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { readParams } from '../../acp/protocol/sessionWire';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Deferred } from '../../base/deferred';
import { Configured, type Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { at, own } from '../../base/untrusted';
import { within } from '../../base/within';
import type { EditorTools, ToolGrant, ToolSession } from '../../client/mcp/editorTools';
import { isBelow } from '../../client/requests/roots';
import type { McpRequest } from '../../editorTools/acpServer';
import type { ToolAnswer } from '../../editorTools/answer';
import { inTime } from '../../editorTools/inTime';
import { loadSdk } from '../../editorTools/loadSdk';
import type { ListedTool, OtherTools, ToolCall, ToolCaller } from '../../editorTools/toolCaller';
import { limitCalls } from '../../editorTools/toolCaller';
import { ToolSocket } from '../../editorTools/toolSocket';
import { isToolName, TOOL_NAMES, TOOLS, type ToolName } from '../../editorTools/tools';
import { type Act, askFirst, requireWork } from './askFirst';
import { ChangeTools, type ChangeToolsOptions } from './changeTools';
import { Diagnoser } from './diagnose';
import { ReadTools } from './readTools';
import { SessionPaths } from './sessionPaths';
import { readTestRun } from './testRun';

const SERVER = 'parley';

const messageSchema = z.object({
  serverId: z.string(),
  method: z.string(),
  params: z.nullish(z.record(z.string(), z.unknown())),
});

interface EditorToolHostOptions {
  readonly context: ExtensionContext;
  readonly files: ChangeToolsOptions['files'];
  readonly asAgent: ChangeToolsOptions['asAgent'];
  readonly log: Log;
}

export class EditorToolHost extends Configured<EditorToolHostOptions> implements EditorTools, Disposable {
  readonly #socket: ToolSocket;
  readonly diagnoser: Diagnoser;

  constructor(options: EditorToolHostOptions) {
    super(options);
    this.#socket = new ToolSocket(options.log);
    this.diagnoser = new Diagnoser(options.log);
  }

  async grant(agent: AgentDefinition, session: ToolSession): Promise<ToolGrant | undefined> {
    if (!workspace.isTrusted || allowedTools(agent).length === 0) return undefined;
    let listed: number | undefined;
    const caller: ToolCaller = {
      ...this.#caller(agent, session),
      listed: (count) => {
        listed = count;
      },
    };
    const { extensionPath } = this.options.context;
    const entrance = await this.#socket.open(async (socket) => {
      await loadSdk();
      const { serveSocket } = await import('../../editorTools/socketServer');
      await serveSocket(caller, socket);
    });
    knownSecrets.add(entrance.token);
    const serverId = randomUUID();
    let overAcp: Promise<McpRequest> | undefined;
    return {
      program: {
        type: 'stdio',
        name: SERVER,
        command: process.execPath,
        args: [join(extensionPath, 'dist', 'editorTools.js'), entrance.path],
        // On the desktop, Node is VS Code itself.
        env: { PARLEY_EDITOR_TOOLS: entrance.token, ELECTRON_RUN_AS_NODE: '1' },
      },
      overAcp: { type: 'acp', name: SERVER, serverId },
      get listed() {
        return listed;
      },
      async message(raw, signal) {
        const { serverId: asked, method, params } = readParams(messageSchema, raw, 'mcp/message');
        if (asked !== serverId) throw new RpcError(RPC_CODES.resourceNotFound, 'mcp/message: there is no such server');
        overAcp ??= loadSdk()
          .then(() => import('../../editorTools/acpServer'))
          .then(({ acpServer }) => acpServer(caller));
        return (await overAcp)(method, params ?? undefined, signal);
      },
      dispose: () => entrance.dispose(),
    };
  }

  dispose(): void {
    this.#socket.dispose();
  }

  #caller(agent: AgentDefinition, session: ToolSession): ToolCaller {
    const { context, asAgent, files, log } = this.options;
    const { version } = context.extension.packageJSON as { version: string };
    const paths = new SessionPaths(session.roots);
    const tools = {
      ...new ReadTools({ paths, diagnoser: this.diagnoser, changed: session.changed }),
      ...new ChangeTools({ paths, session, diagnoser: this.diagnoser, files, asAgent }),
      ...new RunTools(paths, session),
    };
    return limitCalls({
      version,
      tools: () => (workspace.isTrusted ? allowedTools(agent) : []),
      call: async (name, args, signal) => {
        const started = performance.now();
        try {
          return await tools[name](args as never, signal);
        } finally {
          log.debug(`editor tools: ${name} took ${Math.round(performance.now() - started)} ms`);
        }
      },
      others: extensionTools(() => (workspace.isTrusted ? allowedExtensionTools(agent) : []), session),
    });
  }
}

const OTHERS = '*';

/** Agents on other machines get only tools named in the settings. */
function allowedTools(agent: AgentDefinition): readonly ToolName[] {
  const allowed = settingOf(agent);
  if (allowed === 'all') return TOOL_NAMES;
  if (allowed === 'read') return TOOL_NAMES.filter((name) => TOOLS[name].effect === 'read');
  return Array.isArray(allowed) ? TOOL_NAMES.filter((name) => allowed.includes(name)) : [];
}

function allowedExtensionTools(agent: AgentDefinition): readonly string[] {
  if (settingOf(agent) !== 'all') return [];
  const names = workspace.getConfiguration('parley').get<unknown>('extensionTools');
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

function settingOf({ id, type }: AgentDefinition): unknown {
  const setting = workspace.getConfiguration('parley').get<unknown>('editorTools');
  const record = typeof setting === 'object' && setting !== null ? (setting as Record<string, unknown>) : {};
  return own(record, id) ?? (type === 'process' ? (own(record, OTHERS) ?? 'all') : 'off');
}

const MAX_TOOLS = 16;
const MAX_DESCRIPTION = 300;
const MAX_SCHEMA = 2000;
/** Characters of the arguments, all of which the user reads. */
const MAX_ARGS = 4000;
/** Names accepted by agents and models. */
const NAME = /^[\w-]{1,64}$/;

function extensionTools(allowed: () => readonly string[], session: ToolSession): OtherTools {
  const list = (): readonly ListedTool[] => {
    const names = new Set(allowed());
    if (names.size === 0) return [];
    return lm.tools
      .filter(({ name }) => names.has(name) && NAME.test(name) && !isToolName(name))
      .slice(0, MAX_TOOLS)
      .map(listed);
  };
  return {
    list,
    async call(name, args, signal) {
      requireWork(session);
      const text = JSON.stringify(args, undefined, 2);
      if (text.length > MAX_ARGS) throw new Error(`The arguments have more than ${MAX_ARGS} characters.`);
      const act = {
        title: l10n.t('Use the tool {0} of another extension', name),
        kind: 'other' as const,
        // JSON strings have no raw line breaks, so none can end the block.
        details: {
          content: [
            { type: 'content' as const, block: { type: 'text' as const, text: `\`\`\`json\n${text}\n\`\`\`` } },
          ],
        },
      };
      return askFirst(session, act, signal, async () => {
        await session.beforeWrite();
        const [summary = '', ...lines] = (await textOfTool(name, args, signal)).split(/\r\n?|\n/);
        return { summary: summary === '' && lines.length === 0 ? 'The tool answered without text' : summary, lines };
      });
    },
  };
}

function listed({ name, description, inputSchema }: LanguageModelToolInformation): ListedTool {
  const isShort = JSON.stringify(inputSchema ?? {}).length <= MAX_SCHEMA;
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION),
    inputSchema: { ...(isShort && inputSchema), type: 'object' },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  };
}

const FETCH_MS = 30_000;
/** How long to wait for a task, ms: many agents time out a call after a minute. */
const TASK_MS = 50_000;
/** VS Code's tool for running tests: no other API reports results to extensions. */
const RUN_TESTS = 'runTests';

class RunTools {
  readonly #paths: SessionPaths;
  readonly #session: ToolSession;
  #failures: ToolAnswer = { summary: 'No tests were run with run_tests yet', failed: true };

  constructor(paths: SessionPaths, session: ToolSession) {
    this.#paths = paths;
    this.#session = session;
  }

  readonly run_task: ToolCall<'run_task'> = async ({ name }, signal) => {
    const all = await inTime(tasks.fetchTasks(), FETCH_MS, signal);
    const own = all.filter((task) => this.#isOwn(task));
    if (name === undefined) {
      const lines = own.map((task) => [labelOf(task), commandOf(task)?.line].filter(Boolean).join('  '));
      return { summary: `${own.length} ${own.length === 1 ? 'task' : 'tasks'}`, lines };
    }
    const [task, ...others] = own.filter((one) => one.name === name || labelOf(one) === name);
    if (!task) throw new Error(`There is no task ${name}: list them without a name.`);
    if (others.length > 0) {
      const labels = [task, ...others].map(labelOf).join(', ');
      throw new Error(`Several tasks are called ${name}. Say one of: ${labels}`);
    }
    requireWork(this.#session);
    return this.#run(task, signal);
  };

  readonly run_tests: ToolCall<'run_tests'> = async ({ path, test }, signal) => {
    requireWork(this.#session);
    if (!isRegistered(RUN_TESTS)) throw new Error('The editor knows no tests: no extension has found any.');
    const file = path === undefined ? undefined : await this.#paths.resolve(path);
    if (file === undefined && !this.#hasAllFolders())
      throw new Error('Say a path: the workspace has folders that are not of this session.');
    const where = file === undefined ? undefined : this.#paths.show(file);
    const title = where === undefined ? l10n.t('Run all tests') : l10n.t('Run the tests in {0}', where);
    const act: Act = {
      title: test === undefined ? title : l10n.t('{0} named “{1}”', title, test),
      kind: 'execute',
      details: file !== undefined ? { locations: [{ path: file }] } : undefined,
    };
    const input = {
      files: file !== undefined ? [inWorkspace(file)] : undefined,
      testNames: test !== undefined ? [test] : undefined,
    };
    return askFirst(this.#session, act, signal, async () => {
      await this.#session.beforeWrite();
      const run = readTestRun(await textOfTool(RUN_TESTS, input, signal), this.#paths);
      this.#failures = run;
      return run;
    });
  };

  readonly test_failures: ToolCall<'test_failures'> = async () => this.#failures;

  async #run(task: Task, signal: AbortSignal): Promise<ToolAnswer> {
    const name = labelOf(task);
    const isSameTask = (other: Task): boolean => keyOf(other) === keyOf(task);
    const ended = new Deferred<void>();
    let exitCode: number | undefined;
    const watches = [
      tasks.onDidEndTaskProcess((event) => {
        if (isSameTask(event.execution.task)) exitCode = event.exitCode;
      }),
      tasks.onDidEndTask(({ execution }) => {
        if (isSameTask(execution.task)) ended.resolve();
      }),
    ];
    const outcome = async (): Promise<ToolAnswer> => {
      if (task.isBackground) return { summary: `${name} runs in the background` };
      // The task continues if the agent gives up.
      const isOver = await inTime(within(TASK_MS, ended.promise), 2 * TASK_MS, signal);
      if (!isOver) return { summary: `${name} still runs: call again to wait for its end` };
      const how = exitCode === undefined ? 'ended' : `ended with exit code ${exitCode}`;
      return { summary: `${name} ${how}; its output is in the terminal, problems in get_diagnostics` };
    };
    try {
      if (tasks.taskExecutions.some((execution) => isSameTask(execution.task))) return await outcome();
      const command = commandOf(task);
      const act: Act = { title: l10n.t('Run task {0}', name), kind: 'execute', command };
      return await askFirst(this.#session, act, signal, async () => {
        await this.#session.beforeWrite();
        await tasks.executeTask(task);
        return outcome();
      });
    } finally {
      for (const watch of watches) watch.dispose();
    }
  }

  /** Tasks of other folders, or of all folders, would act outside this one. */
  #isOwn({ scope }: Task): boolean {
    if (scope === undefined || scope === TaskScope.Global || scope === TaskScope.Workspace)
      return this.#hasAllFolders();
    return this.#paths.holds(scope.uri.fsPath);
  }

  #hasAllFolders(): boolean {
    return (workspace.workspaceFolders ?? []).every(({ uri }) => this.#paths.holds(uri.fsPath));
  }
}

/** VS Code resolves absolute paths on the user's machine, even in remote windows. */
function inWorkspace(path: string): string {
  const [first] = workspace.workspaceFolders ?? [];
  return first && isBelow(first.uri.fsPath, path) ? relative(first.uri.fsPath, path) : path;
}

function labelOf({ name, source }: Task): string {
  return source === 'Workspace' ? name : `${source}: ${name}`;
}

function keyOf({ name, source, scope }: Task): string {
  return JSON.stringify([source, name, typeof scope === 'object' ? scope.uri.toString() : scope]);
}

function commandOf({ execution }: Task): Act['command'] {
  const text = (part: string | { readonly value: string }): string => (typeof part === 'string' ? part : part.value);
  let line: string | undefined;
  if (execution instanceof ShellExecution)
    line =
      execution.commandLine ??
      [...(execution.command ? [execution.command] : []), ...(execution.args ?? [])].map(text).join(' ');
  else if (execution instanceof ProcessExecution) line = [execution.process, ...execution.args].join(' ');
  else return undefined;
  const cwd = execution.options?.cwd;
  // The default is a variable, which means nothing to the user.
  const isPath = cwd !== undefined && !/^\$\{\w+\}$/.test(cwd);
  return line === '' ? undefined : { line, cwd: isPath ? cwd : undefined };
}

/** A tool may ask the user and then run for minutes; ms. */
const PATIENCE_MS = 15 * 60_000;

function isRegistered(name: string): boolean {
  return lm.tools.some((tool) => tool.name === name);
}

/** @returns the texts of the tool's result @throws the reason of `signal`; errors of the tool */
async function textOfTool(name: string, input: object, signal: AbortSignal): Promise<string> {
  const source = new CancellationTokenSource();
  const cancel = (): void => source.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answer = lm.invokeTool(name, { input, toolInvocationToken: undefined }, source.token);
    const { content } = await inTime(answer, PATIENCE_MS, signal);
    return content
      .map((part) => at(part, 'value'))
      .filter((value) => typeof value === 'string')
      .join('\n');
  } finally {
    signal.removeEventListener('abort', cancel);
    source.dispose();
  }
}
