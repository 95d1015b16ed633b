// The open questions: permission requests by item, and the forms and pages below the last entry.
import type { PermissionView } from '../../panel/contract';
import type { EntryContext } from '../entries/entryView';
import { createPermissionCard } from '../entries/permissionCard';
import { hiddenPermissions } from '../host/session';

export class OpenQuestions {
  formIds: readonly string[] = [];
  #permissions: readonly PermissionView[] = [];
  /** Answered here, but not confirmed by the host. */
  readonly #answered = new Set<string>();
  byIndex: ReadonlyMap<number, readonly PermissionView[]> = new Map();

  get ids(): readonly string[] {
    return [...this.#permissions.map(({ id }) => id), ...this.formIds];
  }

  get first(): { readonly id: string; readonly index?: number } | undefined {
    const permission = this.#permissions.find(({ id }) => !this.#answered.has(id));
    if (permission) return permission;
    const [id] = this.formIds;
    return id === undefined ? undefined : { id };
  }

  answered(id: string): void {
    this.#answered.add(id);
  }

  /** @returns the new permission requests, and the indexes of all items that had or have one */
  setPermissions(permissions: readonly PermissionView[]): {
    readonly fresh: readonly PermissionView[];
    readonly touched: Iterable<number>;
  } {
    const newRequests = permissions.filter(({ id }) => !this.#permissions.some((old) => old.id === id));
    for (const id of this.#answered) if (!permissions.some((open) => open.id === id)) this.#answered.delete(id);
    const previous = this.byIndex;
    this.#permissions = permissions;
    this.byIndex = Map.groupBy(permissions, ({ index }) => index);
    return { fresh: newRequests, touched: new Set([...previous.keys(), ...this.byIndex.keys()]) };
  }

  at(index: number): readonly PermissionView[] {
    return this.byIndex.get(index) ?? [];
  }
}

const cards = new WeakMap<HTMLElement, string>();

/**
 * Updates the cards of permission requests without an entry. Unchanged cards are not touched, as
 * one may have the focus.
 */
export function drawOrphanCards(
  box: HTMLElement,
  permissions: readonly PermissionView[],
  context: Pick<EntryContext, 'answered'>,
): void {
  const drawnRequests = new Set<string>();
  for (const card of [...box.querySelectorAll<HTMLElement>('[data-permission-id]')]) {
    const drawn = cards.get(card);
    if (drawn !== undefined && permissions.some((permission) => JSON.stringify(permission) === drawn))
      drawnRequests.add(drawn);
    else card.remove();
  }
  for (const permission of permissions) {
    const view = JSON.stringify(permission);
    if (drawnRequests.has(view)) continue;
    const { element } = createPermissionCard(permission, [], '', context);
    cards.set(element, view);
    box.append(element);
  }
}

/** Tracks open questions that are out of view, so that the header can link to them. */
export class HiddenCards {
  readonly #box: HTMLElement;
  readonly #observer: IntersectionObserver;
  readonly #cards = new Map<Element, string>();
  readonly #visible = new Set<string>();
  #ids: readonly string[] = [];

  constructor(box: HTMLElement) {
    this.#box = box;
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const id = this.#cards.get(target);
          if (id === undefined) continue;
          if (isIntersecting) this.#visible.add(id);
          else this.#visible.delete(id);
        }
        this.#report();
      },
      { root: box },
    );
  }

  /**
   * Call it when cards may have been drawn or removed.
   * @param ids of the open questions
   */
  update(ids: readonly string[]): void {
    this.#ids = ids;
    for (const [card, id] of this.#cards) {
      if (card.isConnected) continue;
      this.#visible.delete(id);
      this.#cards.delete(card);
      this.#observer.unobserve(card);
    }
    for (const card of this.#box.querySelectorAll<HTMLElement>('[data-permission-id], [data-elicitation-id]')) {
      if (this.#cards.has(card)) continue;
      this.#cards.set(card, card.dataset.permissionId ?? card.dataset.elicitationId ?? '');
      this.#observer.observe(card);
    }
    this.#report();
  }

  #report(): void {
    const hidden = this.#ids.filter((id) => !this.#visible.has(id));
    if (hidden.join() !== hiddenPermissions.peek().join()) hiddenPermissions.value = hidden;
  }
}
