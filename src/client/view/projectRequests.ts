// Projects what waits for the user, and background work: permission requests with everything that
// their calls would do, forms and pages.
import { head, oneLine } from '../../base/text';
import type { BackgroundView, ElicitationView, PermissionView } from '../../panel/contract';
import type { SessionView } from '../../session/model/model';
import type { Permission, SessionState, ToolEntry } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { proposalOf } from '../requests/editedProposal';
import { askedInputOf } from './askedInput';
import { isStoppable, toJson, whole } from './projectItem';

const MAX_WORK = 50;
const MAX_LABEL = 200;

export function toolOf(
  model: Pick<SessionView, 'state' | 'toolIndex'>,
  { toolCallId }: Pick<Permission, 'toolCallId'>,
): ToolEntry | undefined {
  const entry = toolCallId === undefined ? undefined : model.state.entries[model.toolIndex(toolCallId) ?? -1];
  return entry?.kind === 'tool' ? entry : undefined;
}

/** Several subagents can work in parallel. */
export function askerOf(
  model: Pick<SessionView, 'state' | 'toolIndex'>,
  permission: Pick<Permission, 'toolCallId'>,
): string | undefined {
  const entry = toolOf(model, permission);
  const parent = entry && model.state.nests.parentOf(entry);
  return parent && oneLine(parent.title || parent.name || parent.toolCallId, MAX_LABEL);
}

export function permissionsOf(conversation: Conversation): PermissionView[] {
  return [...conversation.model.state.permissions.values()].map((permission) =>
    projectPermission(conversation, permission),
  );
}

function projectPermission({ model }: Conversation, permission: Permission): PermissionView {
  const { id, title, options, ruleOffer, toolCallId } = permission;
  const by = askerOf(model, permission);
  const entry = toolOf(model, permission);
  const { commands, texts, purpose, rest, isUnknown } = askedInputOf(permission, entry);
  const description = permission.description ?? purpose;
  return {
    id,
    title: whole(title),
    options,
    index: entry?.index ?? -1,
    commands: commands.length > 0 ? commands.map(({ line, ...more }) => ({ ...more, line: whole(line) })) : undefined,
    texts: texts.length > 0 ? texts.map(({ path, text }) => ({ path, text: whole(text) })) : undefined,
    ...(rest !== undefined && { input: { json: toJson(rest), isUnknown: isUnknown || undefined } }),
    description: description ? whole(description) : undefined,
    ruleOffer,
    canEdit: proposalOf(model, id) !== undefined ? (true as const) : undefined,
    toolCallId,
    by,
  };
}

/** An opened page waits for the agent, not the user. */
export function waitsForAnswer({ elicitations }: Readonly<SessionState>): boolean {
  for (const { opened } of elicitations.values()) if (!opened) return true;
  return false;
}

export function elicitationsOf({ model }: Conversation): ElicitationView[] {
  return [...model.state.elicitations.values()].map(({ at: _at, toolCallId, ...asked }) => {
    const { title } = toolOf(model, { toolCallId }) ?? {};
    return { ...asked, tool: title ? head(title, MAX_LABEL) : undefined };
  });
}

export function backgroundOf({ model }: Conversation): BackgroundView[] {
  const { background, entries, terminals } = model.state;
  return background.slice(0, MAX_WORK).map(({ type: kind, id }) => {
    if (kind === 'terminal') {
      const terminal = terminals.get(id);
      const stoppable = terminal?.canCancel && !terminal.exit;
      return { kind, id, label: head(terminal?.command ?? id, MAX_LABEL), stop: stoppable ? 'terminal' : undefined };
    }
    const entry =
      kind === 'subagent'
        ? entries.find((each) => each.kind === 'tool' && each.subagentId === id)
        : entries[model.toolIndex(id) ?? -1];
    if (entry?.kind !== 'tool') return { kind, id, label: head(id, MAX_LABEL) };
    const stop = kind === 'subagent' ? 'subagent' : 'tool';
    return { kind, id, label: head(entry.title || id, MAX_LABEL), stop: isStoppable(entry) ? stop : undefined };
  });
}
