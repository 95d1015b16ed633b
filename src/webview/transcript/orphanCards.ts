// Permission requests that are about no entry of the transcript. Their cards follow the last entry.
import type { PermissionView } from '../../panel/contract';
import type { EntryContext } from '../entries/entryView';
import { createPermissionCard } from '../entries/permissionCard';

/**
 * Updates the cards in a box. Remaining cards are not touched, as one of them may have the focus.
 */
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
