// Attachments of a message: files, selections, images. Each has several forms, best first; the
// agent gets the first that it supports (protocol section 1.4).
import { randomUUID } from 'node:crypto';
import { basename, extname } from 'node:path';
import type { Selection, TextDocument, TextEditor, Uri } from 'vscode';
import { l10n, workspace } from 'vscode';
import { plainAddress } from '../../acp/protocol/fileAddress';
import type { ContentBlock } from '../../session/events/content';
import type { QueuedAttachment } from '../../session/queue/queue';

const MEDIA: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.m4a': 'audio/mp4',
  '.flac': 'audio/flac',
};
const MAX_MEDIA_BYTES = 10 * 1024 * 1024;
const MAX_UNSAVED_CHARS = 1_000_000;

/** Attaches media and unsaved text by content, anything else by URI. */
export async function fileAttachment(uri: Uri): Promise<QueuedAttachment> {
  const label = workspace.asRelativePath(uri);
  const link: ContentBlock = { type: 'resource_link', uri: plainAddress(uri.toString()), name: basename(uri.fsPath) };
  const content = (await mediaOf(uri)) ?? unsavedOf(uri);
  const kind = content?.type === 'image' ? 'image' : 'file';
  return { id: randomUUID(), kind, label, detail: uri.fsPath, forms: content ? [content, link] : [link] };
}

async function mediaOf(uri: Uri): Promise<ContentBlock | undefined> {
  const mimeType = MEDIA[extname(uri.fsPath).toLowerCase()];
  if (mimeType === undefined) return undefined;
  try {
    const { size } = await workspace.fs.stat(uri);
    if (size > MAX_MEDIA_BYTES) return undefined;
    const data = Buffer.from(await workspace.fs.readFile(uri)).toString('base64');
    return mimeType.startsWith('image/') ? { type: 'image', data, mimeType } : { type: 'audio', data, mimeType };
  } catch {
    return undefined;
  }
}

function unsavedOf(uri: Uri): ContentBlock | undefined {
  const document = workspace.textDocuments.find((one) => one.isDirty && one.uri.toString() === uri.toString());
  const text = document?.getText();
  if (text === undefined || text.length > MAX_UNSAVED_CHARS) return undefined;
  return { type: 'resource', uri: plainAddress(uri.toString()), text, mimeType: 'text/plain' };
}

export function selectionAttachment(editor: TextEditor): QueuedAttachment | undefined {
  const { document, selection } = editor;
  if (selection.isEmpty) return undefined;
  const [first, last] = linesOf(selection);
  return linesAttachment(document, first, last, document.getText(selection));
}

export function selectionLabel({ uri }: TextDocument, selection: Selection): string {
  return linesLabel(uri, ...linesOf(selection));
}

/** 1-based. */
function linesOf({ start, end }: Selection): [first: number, last: number] {
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  return [start.line + 1, last];
}

function linesLabel(uri: Uri, first: number, last: number): string {
  return `${workspace.asRelativePath(uri)}:${first === last ? first : `${first}–${last}`}`;
}

export function linesAttachment(
  document: TextDocument,
  first: number,
  last: number,
  text: string,
  label = linesLabel(document.uri, first, last),
): QueuedAttachment {
  const uri = `${plainAddress(document.uri.toString())}#L${first}${last === first ? '' : `-L${last}`}`;
  return {
    id: randomUUID(),
    kind: 'selection',
    label,
    detail: l10n.t('{0} characters', text.length),
    forms: [
      { type: 'resource', uri, text, mimeType: 'text/plain' },
      { type: 'text', text: `\n\nFrom ${label}:\n\`\`\`${document.languageId}\n${text}\n\`\`\`\n` },
    ],
  };
}

/** @param tag surrounds the text for agents that support only text @param path of its URI */
export function embeddedAttachment(
  tag: string,
  path: string,
  label: string,
  text: string,
  mimeType = 'text/plain',
): QueuedAttachment {
  return {
    id: randomUUID(),
    kind: 'other',
    label,
    detail: l10n.t('{0} characters', text.length),
    forms: [
      { type: 'resource', uri: `parley:${path}/${encodeURIComponent(label.toWellFormed())}`, mimeType, text },
      { type: 'text', text: `\n\n<${tag}>\n${text}\n</${tag}>\n` },
    ],
  };
}

/** @param data base64 @param thumbnail a `data:` URL */
export function imageAttachment(
  name: string,
  mimeType: string,
  data: string,
  thumbnail: string | undefined,
): QueuedAttachment {
  return {
    id: randomUUID(),
    kind: 'image',
    label: name,
    detail: `${mimeType}, ${Math.ceil((data.length * 3) / 4 / 1024)} KB`,
    thumbnail,
    forms: [
      { type: 'image', data, mimeType },
      { type: 'text', text: `[an image, ${name}, that this agent cannot take]` },
    ],
  };
}

/** @param mimeType '' if unknown @param data base64 */
export function contentAttachment(name: string, mimeType: string, data: string): QueuedAttachment {
  const detail = `${mimeType || 'a file'}, ${Math.ceil((data.length * 3) / 4 / 1024)} KB`;
  const label = name || 'file';
  const uri = `attachment:///${encodeURIComponent(label.toWellFormed())}`;
  const text = textOf(Buffer.from(data, 'base64'));
  const resource: ContentBlock = {
    type: 'resource',
    uri,
    mimeType: mimeType || undefined,
    ...(text === undefined ? { blob: data } : { text }),
  };
  const isAudio = mimeType.startsWith('audio/');
  return {
    id: randomUUID(),
    kind: isAudio ? 'other' : 'file',
    label,
    detail,
    forms: [
      ...(isAudio ? [{ type: 'audio' as const, data, mimeType }] : []),
      resource,
      {
        type: 'text',
        text: text === undefined ? `[${label}, ${detail}, that this agent cannot take]` : `\n\n${label}:\n${text}\n`,
      },
    ],
  };
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
