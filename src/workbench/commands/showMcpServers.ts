// The list of the MCP servers of a session: those that its agent got, and those that it did not.
import { l10n } from 'vscode';
import { localize } from '../../base/localizable';
import { redact } from '../../base/redact';
import type { Conversation } from '../../client/conversation/conversation';
import type { McpEntry } from '../../client/mcp/mcpConfig';
import { commandLine } from '../../client/transport/describeStart';
import { redactUrl } from '../../distributed/model/resourceUrl';
import { McpServers } from '../config/mcpServers';
import { openSettings } from '../config/settings';
import type { Workbench } from '../core/workbench';
import { openLocation } from '../editor/openLocation';
import { titleOf } from '../sessions/sessionLabels';
import { type ChoiceRow, choiceFrom, List } from '../ui/input';
import { sessionOf } from './commandSession';
import { managePermissions } from './managePermissions';

const TOOLS = 'parley.editorTools';

/** A chosen server opens its definition; one that isn't allowed opens the approvals. */
export async function showMcpServers(workbench: Workbench, argument?: unknown): Promise<void> {
  const conversation = await sessionOf(workbench, argument);
  const title = titleOf(conversation);
  const list = new List<ChoiceRow>(l10n.t('Select a server to open its settings.'), l10n.t('MCP servers: {0}', title));
  list.draw(await mcpRows(workbench, conversation), []);
  const choose = await choiceFrom(list);
  await choose?.();
}

/** Without secrets. */
export async function mcpRows(
  workbench: Workbench,
  conversation: Pick<Conversation, 'link'>,
): Promise<readonly ChoiceRow[]> {
  // Unknown before a session is open, and for an agent that an earlier window started.
  const given = conversation.link?.given;
  const others = new Map(given?.servers.map(({ name, type }) => [name, type]));
  const passed = l10n.t('Passed to the agent');
  const rows = (await workbench.get(McpServers).configured()).map(({ entry, file, isAllowed }): ChoiceRow => {
    const { name } = entry;
    const [type, start] = startOf(entry);
    const isGiven = others.delete(name);
    const state = isGiven ? passed : isAllowed === false ? l10n.t('Not allowed') : given ? l10n.t('Skipped') : '';
    return {
      label: name,
      icon: isGiven ? 'check' : state ? 'circle-slash' : 'server',
      description: state ? `${type} · ${state}` : type,
      detail: `${start} · ${file ?? l10n.t('Settings')}`,
      choose: () => {
        if (isAllowed === false) return managePermissions(workbench);
        return file === undefined ? openSettings('parley.mcpServers') : openLocation({ path: file });
      },
    };
  });
  return [
    ...rows,
    ...[...others].map(([label, type]) => ({
      label,
      icon: 'check',
      description: `${type} · ${passed}`,
      ...(label === 'parley' && { detail: TOOLS, choose: () => openSettings(TOOLS) }),
    })),
    ...(given?.problems ?? []).map((problem) => ({ label: redact(localize(problem)), icon: 'warning' })),
  ];
}

/** Variables aren't filled in. */
function startOf(entry: McpEntry): readonly [type: string, start: string] {
  if ('url' in entry) return [entry.type ?? 'http', redactUrl(entry.url)];
  const line = redact(commandLine([entry.command, ...(entry.args ?? [])]));
  return ['stdio', line.replace(/(key|token|secret|password)([ =])\S+/gi, '$1$2…')];
}
