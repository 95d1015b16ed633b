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

const MAX_OFFERED = 5_000;

export interface NamedFile {
  /** Spellings of a path, the likeliest first. */
  readonly paths: readonly string[];
  /** It stands in a comment, which may be about anything. */
  readonly isGuess: boolean;
}

export interface CodeTarget {
  /** Absolute. The file may be missing, or a link. */
  readonly path: string;
  /** The block names it; else it is the one that the user has open or picked. */
  readonly isNamed: boolean;
}

/**
 * @param outside makes the error for a file outside of `roots`
 * @returns undefined if the user picked no file
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
