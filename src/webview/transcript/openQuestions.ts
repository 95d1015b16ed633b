// What waits for an answer: permissions, by the item that they are about, and the forms and pages below the last entry.
import type { PermissionView } from '../../panel/contract';

export class OpenQuestions {
  /** Of the forms and pages. */
  formIds: readonly string[] = [];
  #permissions: readonly PermissionView[] = [];
  /** Answered here, but not known to the host yet. */
  readonly #answered = new Set<string>();
  #byIndex: ReadonlyMap<number, readonly PermissionView[]> = new Map();

  /** Permissions by the transcript index of their item. */
  get byIndex(): ReadonlyMap<number, readonly PermissionView[]> {
    return this.#byIndex;
  }

  get ids(): readonly string[] {
    return [...this.#permissions.map(({ id }) => id), ...this.formIds];
  }

  /** What is to be answered first, and the item that it is about. */
  get first(): { readonly id: string; readonly index?: number } | undefined {
    const permission = this.#permissions.find(({ id }) => !this.#answered.has(id));
    if (permission) return permission;
    const [id] = this.formIds;
    return id === undefined ? undefined : { id };
  }

  /** The user has answered a permission. */
  answered(id: string): void {
    this.#answered.add(id);
  }

  /** @returns the permissions that are new, and the indices of the items that had or have one */
  setPermissions(permissions: readonly PermissionView[]): {
    readonly fresh: readonly PermissionView[];
    readonly touched: Iterable<number>;
  } {
    const fresh = permissions.filter(({ id }) => !this.#permissions.some((old) => old.id === id));
    for (const id of this.#answered) if (!permissions.some((one) => one.id === id)) this.#answered.delete(id);
    const before = this.#byIndex;
    this.#permissions = permissions;
    this.#byIndex = Map.groupBy(permissions, ({ index }) => index);
    return { fresh, touched: new Set([...before.keys(), ...this.#byIndex.keys()]) };
  }

  at(index: number): readonly PermissionView[] {
    return this.#byIndex.get(index) ?? [];
  }
}
