// Lists the MCP servers of a session: those that its agent got, and those that it did not.
import { commands, l10n } from 'vscode';
import { agentServerName } from '../../acp/quirks/mcpReports';
import { localize } from '../../base/localizable';
import { redact } from '../../base/redact';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import type { McpEntry } from '../../client/mcp/mcpConfig';
import { type ServerState, serverStates } from '../../client/mcp/serverStates';
import { commandLine } from '../../client/transport/describeStart';
import { redactUrl } from '../../distributed/model/resourceUrl';
import { ChatHome } from '../chat/chatHome';
import { McpServers } from '../config/mcpServers';
import { openSettings } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { openLocation } from '../editor/openLocation';
import { titleOf } from '../sessions/sessionLabels';
import { type ChoiceRow, choiceFrom, List } from '../ui/input';
import { sessionOf } from './commandSession';
import { managePermissions } from './managePermissions';

const TOOLS = 'parley.editorTools';
const MAX_NAME = 200;

export async function showMcpServers(workbench: Workbench, argument?: unknown): Promise<void> {
  const conversation = await sessionOf(workbench, argument);
  const title = titleOf(conversation);
  const list = new List<ChoiceRow>(l10n.t('Select a server to reconnect it or to open its settings.'), titleFor(title));
  list.draw(await mcpRows(workbench, conversation), []);
  const choose = await choiceFrom(list);
  await choose?.();
}

export async function mcpRows(workbench: Workbench, conversation: Conversation): Promise<readonly ChoiceRow[]> {
  // Unknown before a session is open, and for an agent started by an earlier window.
  const { link, model } = conversation;
  const given = link?.given;
  const others = new Map(given?.servers.map(({ name, type }) => [name, type]));
  const states = link && serverStates(link, model.state);
  const rows = (await workbench.get(McpServers).configured()).map(({ entry, file, isAllowed }): ChoiceRow => {
    const { name } = entry;
    const [type, start] = startOf(entry);
    const row = { label: name, detail: `${start} · ${file ?? l10n.t('Settings')}` };
    const define = () => (file === undefined ? openSettings('parley.mcpServers') : openLocation({ path: file }));
    if (others.delete(name)) return givenRow(workbench, conversation, row, type, states?.get(name), define);
    const state = isAllowed === false ? l10n.t('Not allowed') : given ? l10n.t('Skipped') : '';
    return {
      ...row,
      icon: state ? 'circle-slash' : 'server',
      description: state ? `${type} · ${state}` : type,
      choose: isAllowed === false ? () => managePermissions(workbench) : define,
    };
  });
  const other = [...others].map(([label, type]) => {
    const isOurs = label === 'parley';
    const define = isOurs ? () => openSettings(TOOLS) : undefined;
    const row = { label, detail: isOurs ? TOOLS : undefined };
    return givenRow(workbench, conversation, row, type, states?.get(label), define);
  });
  const problems = (given?.problems ?? []).map((problem) => ({ label: redact(localize(problem)), icon: 'warning' }));
  return [...rows, ...other, ...problems];
}

function givenRow(
  workbench: Workbench,
  conversation: Conversation,
  row: Pick<ChoiceRow, 'label' | 'detail'> & { readonly label: string },
  type: string,
  state: ServerState = { kind: 'unknown' },
  define?: () => Promise<unknown>,
): ChoiceRow {
  const reason = 'reason' in state && state.reason !== '' ? redact(state.reason) : undefined;
  return {
    ...row,
    icon: { connected: 'check', failed: 'error', needsSignIn: 'key', unknown: 'circle-outline' }[state.kind],
    description: `${type} · ${stateLabel(state)}`,
    detail: reason ?? row.detail,
    choose: () => chooseAction(workbench, conversation, row.label, state, define),
  };
}

function stateLabel(state: ServerState): string {
  switch (state.kind) {
    case 'connected':
      if (state.tools === undefined) return l10n.t('Connected');
      return state.tools === 1 ? l10n.t('Connected, 1 tool') : l10n.t('Connected, {0} tools', state.tools);
    case 'failed':
      return l10n.t('Failed to start');
    case 'needsSignIn':
      return l10n.t('Sign-in needed');
    case 'unknown':
      return l10n.t('Passed to the agent, which reports no state');
  }
}

async function chooseAction(
  workbench: Workbench,
  conversation: Conversation,
  server: string,
  { kind }: ServerState,
  define: (() => Promise<unknown>) | undefined,
): Promise<void> {
  const command = reconnectCommand(conversation, server);
  const asking: ChoiceRow | undefined =
    command === undefined
      ? undefined
      : {
          icon: kind === 'needsSignIn' ? 'key' : 'debug-restart',
          label: kind === 'needsSignIn' ? l10n.t('Sign in') : l10n.t('Reconnect'),
          description: l10n.t('sends {0}', command),
          choose: async () => {
            workbench.get(ChatHome).present(conversation);
            // Agents don't report a server again.
            conversation.link?.mcpReports?.delete(agentServerName(server));
            conversation.send(command).done.catch(() => undefined); // the queue shows errors
          },
        };
  const again: ChoiceRow = {
    icon: 'refresh',
    label: l10n.t('Start {0} again', conversation.agent.name),
    description: l10n.t('reconnects all servers; the session stays'),
    choose: () => workbench.run('restartAgent', { session: conversation.key }),
  };
  const rows: readonly ChoiceRow[] = [
    ...(asking ? [asking] : []),
    ...(conversation.isBusy ? [] : [again]),
    ...(define ? [{ icon: 'gear', label: l10n.t('Open settings'), choose: define }] : []),
    { icon: 'output', label: l10n.t('Show log'), choose: async () => commands.executeCommand('parley.showLog') },
  ];
  const list = new List<ChoiceRow>(
    asking
      ? l10n.t('Select an action')
      : l10n.t('{0} has no command that reconnects a server.', conversation.agent.name),
    titleFor(server),
  );
  list.draw(rows, []);
  await (await choiceFrom(list))?.();
}

/** Returns the agent's `/mcp` command if it accepts this argument (Claude, Codex). */
function reconnectCommand({ model }: Conversation, server: string): string | undefined {
  const { hint } = model.state.commands.find(({ name }) => name === 'mcp') ?? {};
  if (!hint || !/\breconnect\b/.test(hint)) return undefined;
  return ['/mcp', 'reconnect', ...(/server/.test(hint) ? [oneLine(server, MAX_NAME)] : [])].join(' ');
}

function titleFor(subject: string): string {
  return l10n.t('MCP servers: {0}', subject);
}

/** Variables are not substituted. */
function startOf(entry: McpEntry): readonly [type: string, start: string] {
  if ('url' in entry) return [entry.type ?? 'http', redactUrl(entry.url)];
  const line = redact(commandLine([entry.command, ...(entry.args ?? [])]));
  return ['stdio', line.replace(/(key|token|secret|password)([ =])\S+/gi, '$1$2…')];
}
