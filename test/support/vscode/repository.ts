// Where things are: the repository, its output and its cache. The scripts and the test runners
// start with the repository as working directory.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * The root of the repository.
 * @throws Error when run from another folder, as every other path would be wrong too
 */
export const repository: string = findRepository();

function findRepository(): string {
  const root = resolve(process.env.PARLEY_REPOSITORY ?? process.cwd());
  if (!existsSync(join(root, 'test/support/vscode')))
    throw new Error(`${root} is not the repository; run from its root`);
  return root;
}

export const cacheFolder: string = resolve(process.env.PARLEY_CACHE ?? join(repository, '.cache'));

export const screenshotFolder: string = join(repository, 'out/screenshots');

export const vsixPath: string = join(repository, 'dist/parley.vsix');
