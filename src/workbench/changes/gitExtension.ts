// The used parts of the API of VS Code's Git extension (version 1).
import { extensions, l10n, Uri } from 'vscode';
import { ParleyError } from '../../base/errors';
import { pathsOf } from '../../client/changes/changedPaths';
import type { Conversation } from '../../client/conversation/conversation';

export interface GitExtension {
  readonly repositories: readonly GitRepository[];
  getRepository(uri: Uri): GitRepository | null;
}

export interface GitRepository {
  readonly rootUri: Uri;
  readonly inputBox: { value: string };
  readonly state: {
    readonly indexChanges: readonly GitChange[];
    readonly workingTreeChanges: readonly GitChange[];
    /** Missing in versions that list untracked files with the others. */
    readonly untrackedChanges?: readonly GitChange[];
  };
  add(paths: string[]): Promise<void>;
  diff(cached?: boolean): Promise<string>;
  log(options: { maxEntries: number }): Promise<readonly { readonly message: string }[]>;
}

interface GitChange {
  readonly uri: Uri;
  /** 7: untracked. */
  readonly status: number;
}

export async function gitExtension(): Promise<GitExtension> {
  const extension = extensions.getExtension<{ getAPI(version: 1): GitExtension }>('vscode.git');
  try {
    if (extension) return (await extension.activate()).getAPI(1);
  } catch {} // it is disabled
  throw new ParleyError('no-git', l10n.t("VS Code's Git extension is not available."));
}

/**
 * Stages the files of a turn with their current content.
 * @returns their number
 * @throws ParleyError `no-git`, `no-changes`, `state-gone`; errors of the Git extension
 */
export async function stageTurn({ changes }: Conversation, turnId: string): Promise<number> {
  const api = await gitExtension();
  await changes.settled();
  const paths = (await changes.changesOf(turnId)).flatMap(pathsOf);
  const byRepository = new Map<GitRepository, string[]>();
  for (const path of paths) {
    const repository = api.getRepository(Uri.file(path));
    if (!repository) continue;
    const some = byRepository.get(repository);
    if (some) some.push(path);
    else byRepository.set(repository, [path]);
  }
  if (byRepository.size === 0)
    throw new ParleyError('no-changes', l10n.t('The turn changed no file of an open Git repository.'));
  let staged = 0;
  for (const [repository, some] of byRepository) {
    await repository.add(some);
    staged += some.length;
  }
  return staged;
}
