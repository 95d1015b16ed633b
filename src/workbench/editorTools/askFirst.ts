// Asks the user before a tool acts, and shows the outcome in the session.

import { randomUUID } from 'node:crypto';
import { l10n } from 'vscode';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import type { ToolSession } from '../../client/mcp/editorTools';
import type { ToolAnswer } from '../../editorTools/answer';
import type { ToolPatch } from '../../session/events/event';

export interface Act {
  readonly title: string;
  readonly kind: 'edit' | 'execute' | 'other';
  readonly details?: Pick<ToolPatch, 'content' | 'locations'>;
  readonly command?: NonNullable<PermissionAsk['command']>;
}

/** Changes between turns are in no review. @throws Error with a sentence for the model */
export function requireWork({ isAtWork }: ToolSession): void {
  if (!isAtWork()) throw new Error('This can only be done while you work on a message of the user.');
}

export async function askFirst(
  session: ToolSession,
  { title, kind, details, command }: Act,
  signal: AbortSignal,
  run: () => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const toolCallId = `parley-${randomUUID()}`;
  const note = (patch: ToolPatch): void => session.apply({ type: 'tool_call', toolCallId, patch, announced: false });
  const options = [
    { optionId: 'allow', name: l10n.t('Allow'), kind: 'allow_once' },
    { optionId: 'refuse', name: l10n.t('Deny'), kind: 'reject_once' },
  ];
  const patch: ToolPatch = { title, kind, status: 'pending', ...details };
  const answer = await session.ask({ toolCallId, patch, title, options, command }, signal);
  if (answer !== 'allow') {
    note({ status: 'failed' });
    return { summary: 'The user did not allow this', failed: true };
  }
  note({ status: 'in_progress' });
  try {
    const done = await run();
    note({ status: done.failed ? 'failed' : 'completed' });
    return done;
  } catch (error) {
    note({ status: 'failed' });
    throw error;
  }
}
