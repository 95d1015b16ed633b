// Saves an embedded file of a message or tool call to a location chosen by the user.

import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { errorText, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { isProtected } from '../../client/requests/protectedPaths';
import { realTarget } from '../../client/requests/roots';
import type { ContentBlock } from '../../session/events/content';
import type { Entry } from '../../session/model/state';
import { confirm, showInfo } from '../ui/messages';
import { pickTarget } from '../ui/places';
import { fileNameOf } from './fileName';
import { columnBesideChat, firstExisting } from './openLocation';
import { saveFile } from './saveFile';

export interface SaveQuestions {
  where(suggested: vscode.Uri): Promise<vscode.Uri | undefined>;
  mayStartPrograms(path: string): Promise<boolean>;
  done(text: string, canOpen: boolean): Promise<boolean>;
}

export const vscodeSaveQuestions: SaveQuestions = {
  where: (suggested) => pickTarget(vscode.l10n.t('Save'), suggested),
  mayStartPrograms: async (path) => {
    const text = vscode.l10n.t('Save a file from the agent that can start programs?');
    return confirm(text, path, vscode.l10n.t('Save'));
  },
  done: async (text, canOpen) => {
    const open = vscode.l10n.t('Open');
    return (await showInfo(text, ...(canOpen ? [open] : []))) === open;
  },
};

export interface ContentRef {
  readonly entry: Entry | undefined;
  readonly content: number;
}

/**
 * Asks for a location and writes the file, which can be opened if it is text.
 * @throws ParleyError `resource-gone`, `resource-unreadable` (no base64), `resource-not-saved`
 */
export async function saveResource(
  { entry, content }: ContentRef,
  folder: string | undefined,
  ask: SaveQuestions = vscodeSaveQuestions,
): Promise<void> {
  const found = contentOf(blockAt(entry, content));
  if (!found) throw new ParleyError('resource-gone', localizable('The file is no longer available.'));
  const { uri, text, base64 } = found;
  const name = fileNameOf(uri);
  const parent = (await firstExisting(folder === undefined ? [] : [folder]))?.uri ?? vscode.Uri.file(homedir());
  const target = await ask.where(vscode.Uri.joinPath(parent, name));
  if (!target) return;
  const real = await realTarget(target.fsPath).catch(() => target.fsPath);
  const isRisky = await isProtected(target.fsPath, real, folder === undefined ? [] : [folder]);
  if (isRisky && !(await ask.mayStartPrograms(real))) return;
  const bytes = text === undefined ? decode(base64, name) : Buffer.from(text, 'utf8');
  try {
    await saveFile(target, bytes);
  } catch (cause) {
    throw new ParleyError('resource-not-saved', localizable("Couldn't save {0}: {1}", name, errorText(cause)), {
      cause,
    });
  }
  const canOpen = text !== undefined;
  if (!(await ask.done(vscode.l10n.t('Saved: {0}', target.fsPath), canOpen)) || !canOpen) return;
  // Opened as text whatever its name: no editor may run what an agent made.
  const document = await vscode.workspace.openTextDocument(target);
  await vscode.window.showTextDocument(document, { preview: true, viewColumn: columnBesideChat() });
}

function blockAt(entry: Entry | undefined, content: number): ContentBlock | undefined {
  switch (entry?.kind) {
    case 'user':
    case 'agent':
    case 'thought':
      return entry.content[content];
    case 'tool': {
      const part = entry.content[content];
      return part?.type === 'content' ? part.block : undefined;
    }
    default:
      return undefined;
  }
}

type EmbeddedFile = { readonly uri: string } & (
  | { readonly text: string; readonly base64?: undefined }
  | { readonly text?: undefined; readonly base64: string }
);

function contentOf(block: ContentBlock | undefined): EmbeddedFile | undefined {
  if (block?.type === 'image' && block.uri !== undefined) return { uri: block.uri, base64: block.data };
  if (block?.type !== 'resource') return undefined;
  const { uri, text, blob } = block;
  if (text !== undefined) return { uri, text };
  return blob === undefined ? undefined : { uri, base64: blob };
}

/** Node decodes invalid base64 as far as possible. */
function decode(base64: string, name: string): Uint8Array {
  const characters = base64.replace(/\s+/g, '');
  if (!/^[\w+/-]*={0,2}$/.test(characters) || characters.replace(/=+$/, '').length % 4 === 1)
    throw new ParleyError(
      'resource-unreadable',
      localizable("Couldn't save {0} because the agent sent damaged data.", name),
    );
  return Buffer.from(characters, 'base64');
}
