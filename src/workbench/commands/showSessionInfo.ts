// Lists the details of a session.
import { commands, l10n } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { sessionInfo } from '../../client/view/sessionInfo';
import { openSettings } from '../config/settings';
import { openLocation } from '../editor/openLocation';
import { titleOf } from '../sessions/sessionLabels';
import { type ChoiceRow, choiceFrom, List } from '../ui/input';

export async function showSessionInfo(conversation: Conversation): Promise<void> {
  const list = new List<ChoiceRow>(l10n.t('Session info'), titleOf(conversation));
  const rows = sessionInfo(conversation).map(({ value, setting, command, ...row }): ChoiceRow => {
    const { key, file } = setting ?? {};
    const open = () => (file !== undefined ? openLocation({ path: file }) : openSettings(key));
    const run = async () => commands.executeCommand(`parley.${command}`, { session: conversation.key });
    return { ...row, description: value, choose: command ? run : setting && open };
  });
  list.draw(rows, []);
  await (await choiceFrom(list))?.();
}
