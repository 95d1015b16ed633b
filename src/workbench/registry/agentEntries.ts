// The entries of the user's setting `parley.agents`.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ConfigurationTarget, type ExtensionContext, env, l10n, Range, Uri, WorkspaceEdit, workspace } from 'vscode';
import { agentsIn, editEntries, needsOwnEdit } from '../../agents/settingsText';
import { ParleyError } from '../../base/errors';
import { withLock } from '../../registry/install/installLock';
import { userValue } from '../config/folderSettings';
import { saveFile } from '../editor/saveFile';

const MAX_FILE = 5 * 1024 * 1024;
const READ_MS = 5_000;
const OTHERS_MS = 15_000;

export type Entries = Readonly<Record<string, unknown>>;

export class AgentEntries {
  readonly #context: Pick<ExtensionContext, 'globalStorageUri'>;

  constructor(context: Pick<ExtensionContext, 'globalStorageUri'>) {
    this.#context = context;
  }

  all(): Entries {
    const value = userValue('agents');
    return isEntries(value) ? { ...value } : {};
  }

  /**
   * Writes an entry, preserving position and comments; undefined removes it.
   * @throws ParleyError `settings-unsaved`, `settings-invalid` (malformed, so not overwritten); VS
   * Code's error
   */
  async set(id: string, entry: unknown): Promise<void> {
    await this.change((before) => {
      const { [id]: _old, ...others } = before;
      return entry === undefined ? others : { ...before, [id]: entry };
    });
  }

  /**
   * Changes the entries. Windows take turns, since VS Code writes settings as a whole.
   * @throws as {@link set}; ParleyError `settings-busy`
   */
  async change(change: (before: Entries) => Entries): Promise<void> {
    const lock = join(this.#context.globalStorageUri.fsPath, 'agent-entries.lock.db');
    const busy = (): ParleyError =>
      new ParleyError('settings-busy', l10n.t('Another window is changing the agents.'), {
        hint: l10n.t('Try again.'),
      });
    await withLock(lock, () => this.#change(change), { waitMs: OTHERS_MS, busy });
  }

  async #change(change: (before: Entries) => Entries): Promise<void> {
    const before = await this.#readEntries();
    // Undefined members aren't written: {@link #until} would wait for them forever.
    const all = JSON.parse(JSON.stringify(change(before))) as Entries;
    if (isDeepStrictEqual(before, all)) return;
    if (!(await this.#writeAmongComments(before, all)))
      await workspace.getConfiguration('parley').update('agents', all, ConfigurationTarget.Global);
    await this.#waitUntilRead(all);
  }

  /** @returns false if VS Code can write them as well */
  async #writeAmongComments(before: Entries, all: Entries): Promise<boolean> {
    for (const file of this.#files()) if (await writeAmongComments(file, before, all)) return true;
    return false;
  }

  /** Re-reads the file, as this window may not have noticed another one's write. */
  async #readEntries(): Promise<Entries> {
    let value = userValue('agents');
    for (const file of this.#files()) {
      const found = await entriesIn(file);
      if (found === undefined) continue;
      value = found;
      break;
    }
    if (value === undefined) return {};
    if (isEntries(value)) return { ...value };
    throw new ParleyError('settings-invalid', l10n.t('The setting parley.agents must be an object.'), {
      hint: l10n.t('Correct it in settings.json, then try again.'),
    });
  }

  freeId(wanted: string): string {
    const all = this.all();
    let id = wanted;
    for (let number = 2; Object.hasOwn(all, id); number += 1) id = `${wanted}-${number}`;
    return id;
  }

  #files(): readonly string[] {
    const { scheme, fsPath } = this.#context.globalStorageUri;
    if (scheme !== 'file') return [];
    // <User>/globalStorage/<extension>, or <User>/profiles/<profile>/globalStorage/<extension>
    const user = join(fsPath, '..', '..');
    return env.remoteName === undefined
      ? [join(user, 'settings.json'), join(user, '..', '..', 'settings.json')]
      : [join(user, '..', 'Machine', 'settings.json')];
  }

  /** Waits until VS Code has read the written file, which may be after the write. */
  async #waitUntilRead(all: Entries): Promise<void> {
    if (isDeepStrictEqual(this.all(), all)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, READ_MS);
      const listening = workspace.onDidChangeConfiguration(() => {
        if (isDeepStrictEqual(this.all(), all)) done();
      });
      function done(): void {
        clearTimeout(timer);
        listening.dispose();
        resolve();
      }
    });
  }
}

function isEntries(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function entriesIn(path: string): Promise<unknown> {
  const { size } = await stat(path).catch(() => ({ size: Number.POSITIVE_INFINITY }));
  return size > MAX_FILE ? undefined : agentsIn(await readFile(path, 'utf8'));
}

/** @returns false if this is not the file, or VS Code can write it as well */
async function writeAmongComments(path: string, before: Entries, all: Entries): Promise<boolean> {
  const { size } = await stat(path).catch(() => ({ size: Number.POSITIVE_INFINITY }));
  if (size > MAX_FILE) return false;
  const file = await readFile(path, 'utf8');
  const mark = file.startsWith('\uFEFF') ? '\uFEFF' : '';
  const written = file.slice(mark.length);
  if (!needsOwnEdit(written, before)) return false;
  const document = await workspace.openTextDocument(Uri.file(path));
  if (document.isDirty)
    throw new ParleyError('settings-unsaved', l10n.t('The settings file has unsaved changes.'), {
      hint: l10n.t('Save the file, then try again.'),
    });
  const text = document.getText();
  if (text !== written) {
    // VS Code has not noticed another program's write yet.
    await saveFile(document.uri, Buffer.from(mark + editEntries(written, before, all)));
    return true;
  }
  const edit = new WorkspaceEdit();
  const end = document.lineAt(document.lineCount - 1).range.end;
  edit.replace(document.uri, new Range(0, 0, end.line, end.character), editEntries(text, before, all));
  return (await workspace.applyEdit(edit)) && (await document.save());
}
