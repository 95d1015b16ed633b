// Attachments of mentions, which are added and removed with their text.
import type { MentionView } from '../../panel/contract';
import { post } from '../host/host';
import { session } from '../host/session';
import { mentionsIn } from './mention';

/** Attachment ids by label: chosen from the list, and those whose text was removed. */
let chosen = { key: '', ids: new Map<string, string>(), removed: new Map<string, string>() };

export function chooseMention({ id, label }: Pick<MentionView, 'id' | 'label'>): void {
  ofSession().ids.set(label, id);
  post({ type: 'mention', id });
}

/** Detaches what the text no longer mentions, and attaches it again after an undo. */
export function followMentions(before: string, after: string): void {
  const attachments = session.attachments.peek();
  const { ids, removed } = ofSession();
  if (attachments.length + removed.size === 0) return;
  const labels = [...attachments.map(({ label }) => label), ...removed.keys()];
  const [had, has] = [mentionsIn(before, labels), mentionsIn(after, labels)];
  for (const { id, label } of attachments) {
    if (!had.has(label) || has.has(label)) continue;
    post({ type: 'detach', id });
    const mention = ids.get(label);
    if (mention !== undefined) removed.set(label, mention);
  }
  for (const [label, id] of removed) {
    if (had.has(label) || !has.has(label)) continue;
    removed.delete(label);
    post({ type: 'mention', id });
  }
}

function ofSession(): typeof chosen {
  const key = session.key.peek();
  if (chosen.key !== key) chosen = { key, ids: new Map(), removed: new Map() };
  return chosen;
}
