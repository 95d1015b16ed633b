// The link from a tool call with a diff to the same file in the list of what its turn changed.
import { iconButton } from '../dom/dom';
import { strings } from '../text/changesStrings';

export type ChangesLink = HTMLButtonElement;

/** Creates the link, which is visible while its line is hovered or focused. */
export function createChangesLink(show: () => void): ChangesLink {
  const link = iconButton('list-unordered', strings.showInChanges, show);
  link.classList.add('changes-link');
  return link;
}
