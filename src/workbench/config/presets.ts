// Named options for new sessions, stored by VS Code outside any folder: workspaces can't choose.
import { randomUUID } from 'node:crypto';
import { l10n, type Memento } from 'vscode';
import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import type { Choice } from '../../session/events/content';

const PRESETS = 'parley.presets';
const OF_FOLDERS = 'parley.folderPresets';
export const MAX_PRESET_NAME = 100;
const MAX_PRESETS = 50;

const text = z.string().check(z.maxLength(1000));
const choice = z.object({
  id: z.optional(text),
  value: z.union([text, z.boolean()]),
  label: text,
  isMode: z.optional(z.literal(true)),
  isRequired: z.optional(z.literal(true)),
});
const stored = z.object({ id: text, name: text, agent: text, choices: z.array(choice).check(z.maxLength(100)) });

export interface Preset {
  readonly id: string;
  readonly name: string;
  readonly agent: string;
  readonly choices: readonly Choice[];
}

export class Presets {
  readonly #user: Memento;
  readonly #workspace: Memento;

  constructor({ globalState, workspaceState }: { readonly globalState: Memento; readonly workspaceState: Memento }) {
    this.#user = globalState;
    this.#workspace = workspaceState;
  }

  list(): readonly Preset[] {
    const all = this.#user.get<unknown>(PRESETS);
    return (Array.isArray(all) ? all : []).flatMap((one) => {
      const { data } = stored.safeParse(one);
      return data ? [data as Preset] : [];
    });
  }

  named(name: string): Preset | undefined {
    return this.list().find((one) => one.name === name);
  }

  /** Replaces one with the same name. @throws ParleyError `preset-too-large`, `too-many-presets` */
  async save(name: string, agent: string, choices: readonly Choice[]): Promise<void> {
    const id = this.named(name)?.id ?? randomUUID();
    const others = this.list().filter((one) => one.id !== id);
    const preset = { id, name, agent, choices };
    if (!stored.safeParse(preset).success)
      throw new ParleyError('preset-too-large', l10n.t('The name or the options are too long for a preset.'));
    if (others.length >= MAX_PRESETS)
      throw new ParleyError('too-many-presets', l10n.t('There can be at most {0} presets.', MAX_PRESETS));
    await this.#write([...others, preset]);
  }

  async rename(id: string, name: string): Promise<void> {
    const others = this.list().filter((one) => one.id === id || one.name !== name);
    await this.#write(others.map((one) => (one.id === id ? { ...one, name } : one)));
  }

  async delete(id: string): Promise<void> {
    await this.#write(this.list().filter((one) => one.id !== id));
  }

  of(folder: string): Preset | undefined {
    const id = this.#ofFolders[folder];
    return id === undefined ? undefined : this.list().find((one) => one.id === id);
  }

  async use(folder: string, id: string | undefined): Promise<void> {
    await this.#workspace.update(OF_FOLDERS, { ...this.#ofFolders, [folder]: id });
  }

  get #ofFolders(): Readonly<Record<string, string | undefined>> {
    return this.#workspace.get(OF_FOLDERS, {});
  }

  async #write(presets: readonly Preset[]): Promise<void> {
    await this.#user.update(
      PRESETS,
      presets.toSorted((a, b) => a.name.localeCompare(b.name)),
    );
  }
}
