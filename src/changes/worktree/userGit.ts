// The git of the user, with their configuration and hooks. Only for a workspace that they trust, and
// for what they asked for; states of folders are read with a git that nothing can steer.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { findGit, type Git } from '../git/gitProcess';

/** Would lead git to another repository (`git rev-parse --local-env-vars`). */
const OF_A_REPOSITORY = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** @throws ParleyError `no-git` */
export async function findUserGit(env: NodeJS.ProcessEnv): Promise<Git> {
  const found = await findGit(env);
  if (!found) throw new ParleyError('no-git', localizable("Git isn't installed, or isn't on the PATH."));
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !OF_A_REPOSITORY.has(name)) own[name] = value;
  return { program: found.program, env: { ...own, GIT_TERMINAL_PROMPT: '0', GIT_LITERAL_PATHSPECS: '1' } };
}
