// Opens locations, links and addresses in a transcript.

import * as vscode from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { candidatesOf, parseLink } from '../../client/view/linkTarget';
import { firstExisting, openLocation } from './openLocation';

export interface LinkOpener {
  openLocation(path: string, line: number | undefined, roots: readonly string[]): Promise<void>;
  openLink(href: string, roots: readonly string[]): Promise<void>;
  openAddress(url: string): Promise<boolean>;
}

export class EditorLinks implements LinkOpener {
  readonly #openPart: (url: string) => Promise<boolean>;

  constructor(openPart: (url: string) => Promise<boolean>) {
    this.#openPart = openPart;
  }

  openLocation(path: string, line: number | undefined, roots: readonly string[]): Promise<void> {
    return openLocation({ path, line }, roots);
  }

  async openLink(href: string, roots: readonly string[]): Promise<void> {
    if (!(await this.#openPart(href))) await openLink(href, roots);
  }

  openAddress(url: string): Promise<boolean> {
    return openAddress(url);
  }
}

/** Opens a link, see {@link parseLink}. @throws ParleyError `link-refused`, `location-not-found` */
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

/** Opens a validated address in the browser. @returns false if declined in VS Code's dialog */
export async function openAddress(url: string): Promise<boolean> {
  // A Uri would change the escapes of signed addresses. VS Code accepts strings.
  return vscode.env.openExternal(url as unknown as vscode.Uri);
}
