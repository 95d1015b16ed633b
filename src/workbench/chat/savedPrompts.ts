// Saved prompts of the user and the workspace, read when the composer asks for them.
import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { l10n, Uri, window, workspace } from 'vscode';
import { succeeds } from '../../base/within';
import { isInsideRoots, realTarget } from '../../client/requests/roots';
import { MAX_PROMPT, PROMPT_ENDING, readPrompts } from '../../mentions/promptFiles';
import type { PromptView } from '../../panel/contract';
import { askLine, pick } from '../ui/input';
import { confirm } from '../ui/messages';

const IN_WORKSPACE = join('.github', 'prompts');
const MAX_NAME = 40;
/** Valid as a file name on every system, without spaces. */
const NAME = /^[\p{L}\p{N}_-][\p{L}\p{N}._-]*$/u;

export class SavedPrompts {
  readonly #userFolder: string;

  constructor({ globalStorageUri }: { readonly globalStorageUri: Uri }) {
    this.#userFolder = join(dirname(dirname(globalStorageUri.fsPath)), 'prompts');
  }

  /** Lists prompts, workspace first; of equal names in one place, the first. */
  async list(): Promise<readonly PromptView[]> {
    if (!workspace.isTrusted) return [];
    const folders = this.#folders();
    const found = await Promise.all(folders.map(({ path, within }) => readPrompts(path, within)));
    const all = folders.flatMap(({ source }, index) => (found[index] ?? []).map((prompt) => ({ ...prompt, source })));
    const isSame = (one: PromptView) => (other: PromptView) => one.name === other.name && one.source === other.source;
    return all.filter((one, index) => all.findIndex(isSame(one)) === index);
  }

  async save(text: string): Promise<void> {
    if (Buffer.byteLength(text) > MAX_PROMPT)
      throw new Error(l10n.t('The message is too long for a prompt. The maximum is {0} KB.', MAX_PROMPT / 1024));
    const name = await askLine({
      title: l10n.t('Save as Prompt'),
      prompt: l10n.t('Name of the prompt, to type after /'),
      value: nameFor(text),
      validate: (typed) => (NAME.test(typed) ? undefined : l10n.t('Use letters, digits, hyphens and dots.')),
    });
    if (name === undefined) return;
    const folders = this.#folders();
    const places = folders.map(({ path, label }, index) => ({ id: String(index), label, description: path }));
    const chosen = await pick(places, l10n.t('Where to save the prompt'));
    const folder = folders[Number(chosen)];
    if (chosen === undefined || !folder) return;
    const path = join(folder.path, name + PROMPT_ENDING);
    // Don't write through a symbolic link of the repository.
    if (folder.within !== undefined && !(await isInsideRoots(await realTarget(path), [folder.within])))
      throw new Error(l10n.t('A symbolic link leads out of the workspace: {0}', path));
    const isNew = !(await succeeds(access(path)));
    const question = l10n.t('{0} already exists. Replace it?', name + PROMPT_ENDING);
    if (!isNew && !(await confirm(question, path, l10n.t('Replace')))) return;
    await mkdir(folder.path, { recursive: true });
    // A prompt that starts like a header gets an empty header.
    await writeFile(path, `${text.startsWith('---') ? '---\n---\n' : ''}${text.trim()}\n`);
    await window.showTextDocument(Uri.file(path), { preview: true });
  }

  #folders(): readonly PromptFolder[] {
    const all = workspace.isTrusted ? (workspace.workspaceFolders ?? []) : [];
    const local = all.filter(({ uri }) => uri.scheme === 'file');
    return [
      ...local.map(({ name, uri }) => ({
        path: join(uri.fsPath, IN_WORKSPACE),
        within: uri.fsPath,
        label: l10n.t('Workspace: {0}', name),
        source: 'workspace' as const,
      })),
      { path: this.#userFolder, label: l10n.t('Your prompts, in all workspaces'), source: 'user' as const },
    ];
  }
}

interface PromptFolder {
  readonly path: string;
  readonly within?: string;
  readonly label: string;
  readonly source: PromptView['source'];
}

function nameFor(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 4).join('-').slice(0, MAX_NAME);
}
