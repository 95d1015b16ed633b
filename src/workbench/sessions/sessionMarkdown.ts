// Renders a conversation as one Markdown text, in the user's language.
import { l10n } from 'vscode';
import { Slices } from '../../changes/lines/slices';
import type { Conversation } from '../../client/conversation/conversation';
import { lineOfTurn } from '../../client/view/turnWords';
import { type MarkdownLabels, markdownOfSession } from '../../session/model/sessionMarkdown';
import { titleOf } from './sessionLabels';

/** @param only renders these entries, without headings */
export async function sessionMarkdown(
  conversation: Conversation,
  only?: { readonly from: number; readonly to: number },
): Promise<string> {
  await conversation.whole;
  const labels = markdownLabels(titleOf(conversation), conversation);
  return new Slices().run(markdownOfSession(conversation.model.state, labels, only));
}

function markdownLabels(title: string, { agent }: Conversation): MarkdownLabels {
  return {
    title,
    user: l10n.t('You'),
    agent: agent.name,
    thought: l10n.t('Thought'),
    plan: l10n.t('Plan'),
    missing: l10n.t('[Not available]'),
    end: lineOfTurn,
  };
}
