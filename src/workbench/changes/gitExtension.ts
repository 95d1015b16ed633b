// VS Code's built-in Git extension: what is used of its API (version 1).
import { extensions, l10n, type Uri } from 'vscode';
import { ParleyError } from '../../base/errors';

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
    /** Missing in versions that list them with the others. */
    readonly untrackedChanges?: readonly GitChange[];
  };
  add(paths: string[]): Promise<void>;
  diff(cached?: boolean): Promise<string>;
  log(options: { maxEntries: number }): Promise<readonly { readonly message: string }[]>;
}

interface GitChange {
  readonly uri: Uri;
  /** 7: not tracked. */
  readonly status: number;
}

/** @throws ParleyError `no-git` */
export async function gitExtension(): Promise<GitExtension> {
  const extension = extensions.getExtension<{ getAPI(version: 1): GitExtension }>('vscode.git');
  try {
    if (extension) return (await extension.activate()).getAPI(1);
  } catch {} // it is turned off
  throw new ParleyError('no-git', l10n.t("VS Code's Git extension is not available."));
}
