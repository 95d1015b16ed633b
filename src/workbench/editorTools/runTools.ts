// The tools that run what the user has set up: tasks and tests. Each asks first.

import { relative } from 'node:path';
import { l10n, ProcessExecution, ShellExecution, type Task, TaskScope, tasks, workspace } from 'vscode';
import { Deferred } from '../../base/deferred';
import { within } from '../../base/within';
import type { ToolSession } from '../../client/mcp/editorTools';
import { isBelow } from '../../client/requests/roots';
import type { ToolAnswer } from '../../editorTools/answer';
import { inTime } from '../../editorTools/inTime';
import type { ToolCall } from '../../editorTools/toolCaller';
import { type Act, askFirst, requireWork } from './askFirst';
import { isRegistered, textOfTool } from './languageModelTools';
import type { SessionPaths } from './sessionPaths';
import { readTestRun } from './testRun';

/** How long the tasks of all extensions are waited for, in milliseconds. */
const FETCH_MS = 30_000;
/** How long a task is waited for: many agents give up on a call after a minute. */
const TASK_MS = 50_000;
/** VS Code's own tool that runs tests: no other interface tells extensions the results. */
const RUN_TESTS = 'runTests';

export class RunTools {
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
    const isIt = (other: Task): boolean => keyOf(other) === keyOf(task);
    const ended = new Deferred<void>();
    let exitCode: number | undefined;
    const watches = [
      tasks.onDidEndTaskProcess((event) => {
        if (isIt(event.execution.task)) exitCode = event.exitCode;
      }),
      tasks.onDidEndTask(({ execution }) => {
        if (isIt(execution.task)) ended.resolve();
      }),
    ];
    const outcome = async (): Promise<ToolAnswer> => {
      if (task.isBackground) return { summary: `${name} runs in the background` };
      // The task goes on if the agent gives up.
      const isOver = await inTime(within(TASK_MS, ended.promise), 2 * TASK_MS, signal);
      if (!isOver) return { summary: `${name} still runs: call again to wait for its end` };
      const how = exitCode === undefined ? 'ended' : `ended with exit code ${exitCode}`;
      return { summary: `${name} ${how}; its output is in the terminal, problems in get_diagnostics` };
    };
    try {
      if (tasks.taskExecutions.some((execution) => isIt(execution.task))) return await outcome();
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

  /** A task of another folder would do something there, and one of all folders also there. */
  #isOwn({ scope }: Task): boolean {
    if (scope === undefined || scope === TaskScope.Global || scope === TaskScope.Workspace)
      return this.#hasAllFolders();
    return this.#paths.holds(scope.uri.fsPath);
  }

  #hasAllFolders(): boolean {
    return (workspace.workspaceFolders ?? []).every(({ uri }) => this.#paths.holds(uri.fsPath));
  }
}

/**
 * VS Code's tool takes an absolute path for one on the user's machine, which differs in remote
 * windows.
 */
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
  // The default is a variable, which tells the user nothing.
  const isPath = cwd !== undefined && !/^\$\{\w+\}$/.test(cwd);
  return line === '' ? undefined : { line, cwd: isPath ? cwd : undefined };
}
