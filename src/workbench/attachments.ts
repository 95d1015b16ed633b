// What can go with a message: files, selections, images. Each in several forms, best first; the agent gets the first that it takes (protocol section 1.4).
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import type { TextEditor, Uri } from 'vscode';
import { workspace } from 'vscode';
import type { QueuedAttachment } from '../session/queue';

/** A file by its address: the agent reads it itself. */
export function fileAttachment(uri: Uri): QueuedAttachment {
  const label = workspace.asRelativePath(uri, false);
  return {
    id: randomUUID(),
    kind: 'file',
    label,
    detail: uri.fsPath,
    forms: [{ type: 'resource_link', uri: uri.toString(), name: basename(uri.fsPath) }],
  };
}

/** The selected lines of an editor, as they stand in it, saved or not; undefined where nothing is selected. */
export function selectionAttachment(editor: TextEditor): QueuedAttachment | undefined {
  const { document, selection } = editor;
  if (selection.isEmpty) return undefined;
  const first = selection.start.line + 1;
  const last =
    selection.end.character === 0 && selection.end.line > selection.start.line
      ? selection.end.line
      : selection.end.line + 1;
  const place = first === last ? `${first}` : `${first}–${last}`;
  const label = `${workspace.asRelativePath(document.uri, false)}:${place}`;
  const text = document.getText(selection);
  const uri = `${document.uri.toString()}#L${first}${last === first ? '' : `-L${last}`}`;
  return {
    id: randomUUID(),
    kind: 'selection',
    label,
    detail: `${text.length} characters`,
    forms: [
      { type: 'resource', uri, text, mimeType: 'text/plain' },
      { type: 'text', text: `\n\nFrom ${label}:\n\`\`\`${document.languageId}\n${text}\n\`\`\`\n` },
    ],
  };
}

/** An image that was pasted. @param data base64. */
export function imageAttachment(name: string, mimeType: string, data: string): QueuedAttachment {
  return {
    id: randomUUID(),
    kind: 'image',
    label: name,
    detail: `${mimeType}, ${Math.ceil((data.length * 3) / 4 / 1024)} KB`,
    forms: [
      { type: 'image', data, mimeType },
      { type: 'text', text: `[an image, ${name}, that this agent cannot take]` },
    ],
  };
}
