// Follows a link of the transcript: web pages through VS Code's question about trusted domains,
// files in the editor, nothing else.

import * as vscode from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { candidatesOf, parseLink } from '../../client/view/linkTarget';
import { firstExisting, openLocation } from './openLocation';

/**
 * Opens what a link of an agent's text points to. See {@link parseLink} for what is followed.
 * @param href as it stands in the text; @param roots the session's folders, for relative paths
 * @param openExternal opens a web page; tests replace it
 * @throws ParleyError `link-refused`, `location-not-found`; the caller shows the sentence
 */
export async function openLink(
  href: string,
  roots: readonly string[],
  openExternal: (url: string) => Promise<boolean> = openAddress,
): Promise<void> {
  const target = parseLink(href);
  switch (target.kind) {
    case 'refused':
      throw new ParleyError('link-refused', target.reason);
    case 'web':
      await openExternal(target.url);
      return;
    case 'file': {
      const { line, column } = target;
      const found = await firstExisting(candidatesOf(target.paths, roots));
      if (found) {
        const path = found.uri.fsPath;
        return openLocation({ path, line, column });
      }
      throw new ParleyError(
        'location-not-found',
        localizable("{0} doesn't exist in the folders of this session.", target.paths[0] ?? href),
      );
    }
  }
}

/**
 * Opens an address in the browser of the system, exactly as it is written.
 * @param url as it was shown; checked already (client/view/linkTarget.ts,
 * acp/protocol/elicitation.ts)
 * @returns false where the user said no to VS Code's own question
 */
export async function openAddress(url: string): Promise<boolean> {
  // A Uri would be written out with other escapes than it was read with, and a signed address would
  // no longer be one: VS Code takes the text as well.
  return vscode.env.openExternal(url as unknown as vscode.Uri);
}
