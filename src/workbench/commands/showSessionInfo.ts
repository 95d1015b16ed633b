// The list of what there is to know of a session besides its transcript.
import { l10n } from 'vscode';
import type { Conversation } from '../../client/conversation/conversation';
import { sessionInfo } from '../../client/view/sessionInfo';
import { titleOf } from '../sessions/sessionLabels';
import { type ChoiceRow, choiceFrom, List } from '../ui/input';

export async function showSessionInfo(conversation: Conversation): Promise<void> {
  const list = new List<ChoiceRow>(l10n.t('Session info'), titleOf(conversation));
  list.draw(
    sessionInfo(conversation).map(({ icon, label, value, detail }) => ({ icon, label, description: value, detail })),
    [],
  );
  await (await choiceFrom(list))?.();
}
