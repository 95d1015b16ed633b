// The checks of an agent in this window.
import { homedir } from 'node:os';
import { version as editorVersion, env, UIKind, workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import {
  agentEnvironment,
  knownShellPath,
  lastShellAnswer,
  loginShellPath,
  withVariables,
} from '../../agents/agentEnvironment';
import { resolveCommand } from '../../agents/resolveCommand';
import { runProgram } from '../../agents/runProgram';
import { ParleyError } from '../../base/errors';
import { findGit } from '../../changes/git/gitProcess';
import { checkAgent } from '../../client/connection/bareAgent';
import type { Conversation } from '../../client/conversation/conversation';
import { KNOWN_AGENTS, versionOf } from '../../registry/discover/findAgents';
import { findNode, findUv } from '../../registry/install/installTools';
import type { Check } from '../../troubleshoot/checks/check';
import { journalCheck } from '../../troubleshoot/checks/journal';
import {
  diskCheck,
  editorCheck,
  gitCheck,
  packageToolsCheck,
  programCheck,
  searchPathCheck,
} from '../../troubleshoot/checks/program';
import {
  protocolCheck,
  type SignInState,
  sessionCheck,
  signInCheck,
  trustCheck,
} from '../../troubleshoot/checks/protocol';
import { proxyCheck } from '../../troubleshoot/checks/proxy';
import { recordsChanges, startTimeoutMs } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';

/** Added because a start has several stages with their own timeouts, ms. */
const MORE_MS = 30_000;

export function gatherChecks(
  agent: AgentDefinition,
  conversation: Conversation | undefined,
  workbench: Workbench,
): readonly Check[] {
  const { context, log } = workbench;
  const conversations = workbench.get(Conversations);
  const { isTrusted } = workspace;
  const cwd = conversation?.cwd ?? conversations.folders[0] ?? homedir();
  const own = agent.type === 'process' ? agent.env : {};
  const ofUser = isTrusted ? workbench.environment : async () => agentEnvironment(process.env, knownShellPath());
  const environment = async (command?: string): Promise<Record<string, string>> =>
    withVariables(await ofUser(command), own);
  const tools = async () => ({ env: await environment(), except: workspaceFolders(), log });
  const http = workspace.getConfiguration('http');
  const { engines } = context.extension.packageJSON as { engines: { vscode: string } };
  const storage = context.globalStorageUri.fsPath;
  return [
    trustCheck(isTrusted),
    programCheck({
      agent,
      resolve: async (command) => resolveCommand(command, { cwd, env: await environment(command) }),
      versionOf: async (path, signal) => {
        if (agent.type !== 'process') return undefined;
        // Unknown programs may start serving instead of printing a version.
        const knownAgent = KNOWN_AGENTS.find(({ program }) => program === agent.command);
        const answersVersion = isTrusted && knownAgent?.answersVersion === true;
        return versionOf({ path, answersVersion }, { env: await environment(), log }, signal);
      },
    }),
    protocolCheck({
      isTrusted,
      limitMs: startTimeoutMs() + MORE_MS,
      start: async (signal) => {
        const { description } = await checkAgent({ ...(await conversations.bare(agent)), cwd }, signal);
        return description;
      },
    }),
    signInCheck(signInState(conversation)),
    sessionCheck(conversation?.connection.kind === 'ready' ? () => conversation.checkStatus() : undefined),
    searchPathCheck({
      isTrusted,
      isWindows: process.platform === 'win32',
      windowPath: process.env.PATH ?? process.env.Path ?? '',
      ask: async () => {
        await loginShellPath({ log });
        return lastShellAnswer();
      },
    }),
    packageToolsCheck({
      agent,
      isTrusted,
      node: async (signal) => (await findNode(await tools(), signal)).version,
      uv: async () => findUv(await tools()),
    }),
    proxyCheck({
      setting: http.get<string>('proxy') ?? '',
      support: http.get<string>('proxySupport') ?? '',
      env: environment,
    }),
    gitCheck({
      isTrusted,
      isWanted: recordsChanges(),
      version: async (signal) => {
        const git = await findGit(await environment());
        if (!git) throw new ParleyError('git-missing', '');
        const { program: command, env: gitEnv } = git;
        const run = { command, args: ['--version'], env: gitEnv, cwd: homedir(), log, timeoutMs: 10_000 };
        return (await runProgram(run, signal)).stdout.trim();
      },
    }),
    journalCheck({ folder: storage, problem: workbench.get(Archive).problem, now: Date.now }),
    diskCheck({ folder: storage }),
    editorCheck({
      version: editorVersion,
      needs: engines.vscode,
      remote: env.remoteName,
      isWeb: env.uiKind === UIKind.Web,
      node: process.versions.node,
    }),
  ];
}

function signInState(conversation: Conversation | undefined): SignInState {
  if (conversation?.connection.kind === 'authRequired') {
    const { methods, error } = conversation.connection;
    return { kind: 'required', methods: methods.map(({ name }) => name), error };
  }
  return { kind: conversation?.connection.kind === 'ready' ? 'ready' : 'unknown' };
}

function workspaceFolders(): readonly string[] {
  return (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}
