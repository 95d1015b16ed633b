// Stages what a turn changed, through VS Code's built-in Git extension.
import { l10n, Uri } from 'vscode';
import { ParleyError } from '../../base/errors';
import { pathsOf } from '../../client/changes/changedPaths';
import type { Conversation } from '../../client/conversation/conversation';
import { type GitRepository, gitExtension } from './gitExtension';

/**
 * Stages the files that a turn changed as they are now.
 * @returns their number
 * @throws ParleyError `no-git`, `no-changes`, `state-gone`; what the Git extension throws
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
