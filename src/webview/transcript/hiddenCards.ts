// Tracks which open questions are out of view, so that the header can lead to them.
import { hiddenPermissions } from '../host/session';

export class HiddenCards {
  readonly #box: HTMLElement;
  readonly #observer: IntersectionObserver;
  readonly #watched = new Map<Element, string>();
  readonly #visible = new Set<string>();
  #ids: readonly string[] = [];

  constructor(box: HTMLElement) {
    this.#box = box;
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const id = this.#watched.get(target);
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
  look(ids: readonly string[]): void {
    this.#ids = ids;
    for (const [card, id] of this.#watched) {
      if (card.isConnected) continue;
      this.#visible.delete(id);
      this.#watched.delete(card);
      this.#observer.unobserve(card);
    }
    for (const card of this.#box.querySelectorAll<HTMLElement>('[data-permission-id], [data-elicitation-id]')) {
      if (this.#watched.has(card)) continue;
      this.#watched.set(card, card.dataset.permissionId ?? card.dataset.elicitationId ?? '');
      this.#observer.observe(card);
    }
    this.#report();
  }

  #report(): void {
    const hidden = this.#ids.filter((id) => !this.#visible.has(id));
    if (hidden.join() !== hiddenPermissions.peek().join()) hiddenPermissions.value = hidden;
  }
}
