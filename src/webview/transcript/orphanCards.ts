// Questions about nothing that stands in the transcript: their cards come below its last entry.
import type { PermissionView } from '../../panel/contract';
import type { EntryContext } from '../entries/entryView';
import { createPermissionCard } from '../entries/permissionCard';

/** Draws the cards of `permissions` into a box. Cards that stay are left alone: one of them may have the focus. */
export function drawOrphanCards(
  box: HTMLElement,
  permissions: readonly PermissionView[],
  context: Pick<EntryContext, 'post' | 'answered'>,
): void {
  const shown = new Set<string | undefined>();
  for (const card of [...box.querySelectorAll<HTMLElement>('[data-permission-id]')]) {
    const { permissionId } = card.dataset;
    if (permissions.some(({ id }) => id === permissionId)) shown.add(permissionId);
    else card.remove();
  }
  for (const one of permissions) {
    if (!shown.has(one.id)) box.append(createPermissionCard(one, [], '', context).element);
  }
}
