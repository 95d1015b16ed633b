// Finds the file that a code block is for: the one that it names, the one in the editor, or one that
// the user picks. Only files in the session's folders, wherever links lead.
import { relative, sep } from 'node:path';
import { l10n, RelativePattern, type TextEditor, workspace } from 'vscode';
import { revealControls } from '../../base/revealControls';
import { isPlainPath } from '../../changes/review/safePath';
import { isBelow } from '../../client/requests/roots';
import { candidatesOf, parseLink } from '../../client/view/linkTarget';
import { pick } from '../ui/input';
import { firstExisting } from './openLocation';

/** Files of a folder that are offered. */
const MAX_OFFERED = 5_000;

/** What a code block says about its file, as the agent wrote it. */
export interface NamedFile {
  /** Spellings of a path, the likeliest first. */
  readonly paths: readonly string[];
  /** It stands in a comment, which may be about anything. */
  readonly isGuess: boolean;
}

/** Where a code block goes. */
export interface CodeTarget {
  /** Absolute. The file need not be there yet, and may be a link that leads elsewhere. */
  readonly path: string;
  /** The block names it; else it is the one that the user has open or picked. */
  readonly isNamed: boolean;
}

/**
 * Returns where a code block goes; undefined where the user picked no file.
 * @param roots the session's folders
 * @param outside makes the error for a file that is not in them by its name
 */
export async function codeTarget(
  named: readonly NamedFile[],
  roots: readonly string[],
  editor: TextEditor | undefined,
  outside: (path: string) => Error,
): Promise<CodeTarget | undefined> {
  for (const { paths, isGuess } of named) {
    const [name = ''] = paths;
    const links = paths.filter((path) => revealControls(path) === path).map(parseLink);
    const places = links.flatMap((link) => (link.kind === 'file' ? candidatesOf(link.paths, roots) : []));
    const found = await firstExisting(places.filter((place) => isPlainlyIn(place, roots)));
    if (found) return { path: found.uri.fsPath, isNamed: true };
    // Without a slash or an extension, it is a word like any other.
    if (!/[\\/]/.test(name) && (isGuess || !/\.[a-z]\w*$/i.test(name))) continue;
    const [fresh] = places;
    if (fresh !== undefined && isPlainlyIn(fresh, roots)) return { path: fresh, isNamed: true };
    if (!isGuess) throw outside(revealControls(name));
  }
  const uri = editor?.document.uri;
  if (uri?.scheme === 'file' && isPlainlyIn(uri.fsPath, roots)) return { path: uri.fsPath, isNamed: false };
  const lists = roots.map((root) => workspace.findFiles(new RelativePattern(root, '**/*'), undefined, MAX_OFFERED));
  const paths = (await Promise.all(lists)).flat().map(({ fsPath }) => fsPath);
  const items = paths.sort().map((id) => ({ id, label: workspace.asRelativePath(id) }));
  const path = await pick(items, l10n.t('Apply to file…'));
  return path === undefined ? undefined : { path, isNamed: false };
}

/** By its spelling: to look up a path on another machine would already send the user's name there. */
function isPlainlyIn(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => {
    const way = relative(root, path).split(sep).join('/');
    return isBelow(root, path) && isPlainPath(way) && !/[\\:]/.test(way);
  });
}
