// Gives sessions the tools that the settings allow their agent, within their folders.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type ExtensionContext, type LanguageModelToolInformation, l10n, lm, workspace } from 'vscode';
import * as z from 'zod/mini';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { readParams } from '../../acp/protocol/sessionWire';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { own } from '../../base/untrusted';
import type { EditorTools, ToolGrant, ToolSession } from '../../client/mcp/editorTools';
import type { McpRequest } from '../../editorTools/acpServer';
import { limitCalls } from '../../editorTools/callLimit';
import { loadSdk } from '../../editorTools/loadSdk';
import type { ListedTool, OtherTools, ToolCaller } from '../../editorTools/toolCaller';
import { ToolSocket } from '../../editorTools/toolSocket';
import { isToolName, TOOL_NAMES, TOOLS, type ToolName } from '../../editorTools/tools';
import { askFirst, requireWork } from './askFirst';
import { ChangeTools, type ChangeToolsOptions } from './changeTools';
import { Diagnoser } from './diagnose';
import { textOfTool } from './languageModelTools';
import { ReadTools } from './readTools';
import { RunTools } from './runTools';
import { SessionPaths } from './sessionPaths';

const SERVER = 'parley';

const messageSchema = z.object({
  serverId: z.string(),
  method: z.string(),
  params: z.nullish(z.record(z.string(), z.unknown())),
});

export interface EditorToolHostOptions {
  readonly context: ExtensionContext;
  readonly files: ChangeToolsOptions['files'];
  readonly asAgent: ChangeToolsOptions['asAgent'];
  readonly log: Log;
}

export class EditorToolHost implements EditorTools, Disposable {
  readonly #options: EditorToolHostOptions;
  readonly #socket: ToolSocket;
  readonly diagnoser: Diagnoser;

  constructor(options: EditorToolHostOptions) {
    this.#options = options;
    this.#socket = new ToolSocket(options.log);
    this.diagnoser = new Diagnoser(options.log);
  }

  async grant(agent: AgentDefinition, session: ToolSession): Promise<ToolGrant | undefined> {
    if (!workspace.isTrusted || allowedTools(agent).length === 0) return undefined;
    const caller = this.#caller(agent, session);
    const { extensionPath } = this.#options.context;
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
        // The desktop's Node is VS Code itself.
        env: { PARLEY_EDITOR_TOOLS: entrance.token, ELECTRON_RUN_AS_NODE: '1' },
      },
      overAcp: { type: 'acp', name: SERVER, serverId },
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
    const { context, asAgent, files, log } = this.#options;
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

/** Agents on other machines get no tools unless they are named. */
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
/** Characters of the arguments: the user reads all of them. */
const MAX_ARGS = 4000;
/** What agents and models take as names. */
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
        // Its strings have no line breaks of their own, so that none of them ends the block.
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
