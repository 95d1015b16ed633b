// Projects permission requests for the webview, with all that their calls would do.
import type { PermissionView } from '../../panel/contract';
import type { Permission } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { proposalOf } from '../requests/editedProposal';
import { askedInputOf } from './askedInput';
import { askerOf } from './asker';
import { toJson, whole } from './projectItem';

export function permissionsOf(conversation: Conversation): PermissionView[] {
  return [...conversation.model.state.permissions.values()].map((one) => projectPermission(conversation, one));
}

function projectPermission({ model }: Conversation, permission: Permission): PermissionView {
  const { id, title, options, ruleOffer, toolCallId } = permission;
  const by = askerOf(model, permission);
  const index = (toolCallId === undefined ? undefined : model.toolIndex(toolCallId)) ?? -1;
  const entry = model.state.entries[index];
  const { commands, texts, purpose, rest, isUnknown } = askedInputOf(
    permission,
    entry?.kind === 'tool' ? entry : undefined,
  );
  const description = permission.description ?? purpose;
  return {
    id,
    title: whole(title),
    options,
    index,
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
