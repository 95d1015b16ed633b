// Decodes and encodes files by VS Code's own rules (settings, byte order marks, guessing) without
// opening an editor.
import * as vscode from 'vscode';
import { ParleyError } from '../../base/errors';

const MARKS: readonly { readonly encoding: string; readonly bytes: readonly number[] }[] = [
  { encoding: 'utf8bom', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf16be', bytes: [0xfe, 0xff] },
  { encoding: 'utf16le', bytes: [0xff, 0xfe] },
];

/**
 * The text of a file. @param encoding where it is known (an open document's)
 * @throws ParleyError `file-not-text` where the bytes are no text
 */
export async function decodeFile(uri: vscode.Uri, bytes: Uint8Array, encoding?: string): Promise<string> {
  try {
    const mark = markOf(bytes);
    const known = encoding ?? mark;
    const text = await (known === undefined
      ? vscode.workspace.decode(bytes, { uri })
      : vscode.workspace.decode(bytes, { encoding: known }));
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  } catch (cause) {
    throw new ParleyError('file-not-text', `${uri.fsPath} is not a text file.`, { cause });
  }
}

/**
 * A new text in the encoding that the file had.
 * @param before the file's bytes and what {@link decodeFile} made of them
 * @throws ParleyError `file-encoding` where that encoding has no such characters: writing would
 * lose them without a word
 */
export async function encodeLike(
  uri: vscode.Uri,
  before: { readonly bytes: Uint8Array; readonly text: string },
  text: string,
): Promise<Uint8Array> {
  const encoding = markOf(before.bytes) ?? (await encodingOf(uri, before));
  const bytes = await (encoding === undefined
    ? vscode.workspace.encode(text, { uri })
    : vscode.workspace.encode(text, { encoding }));
  if ((await decodeFile(uri, bytes, encoding)) === text) return bytes;
  const name = encoding ?? 'its encoding';
  throw new ParleyError(
    'file-encoding',
    `${uri.fsPath} is written in ${name}, which does not have all characters of the new text.`,
  );
}

/**
 * A new file, in the encoding that the settings say; a byte order mark that the agent wrote is kept
 * as one.
 */
export async function encodeNew(uri: vscode.Uri, text: string): Promise<Uint8Array> {
  if (!text.startsWith('\ufeff')) return vscode.workspace.encode(text, { uri });
  return vscode.workspace.encode(text.slice(1), { encoding: 'utf8bom' });
}

/** The encoding of a file without a mark; undefined where it is the one of the settings. */
async function encodingOf(
  uri: vscode.Uri,
  before: { readonly bytes: Uint8Array; readonly text: string },
): Promise<string | undefined> {
  // An empty file has no encoding of its own yet.
  if (before.bytes.length === 0) return undefined;
  // What gives the same bytes again is the right one; the guessing of VS Code does not tell what it
  // guessed.
  if (equal(await vscode.workspace.encode(before.text, { uri }), before.bytes)) return undefined;
  if (equal(await vscode.workspace.encode(before.text, { encoding: 'utf8' }), before.bytes)) return 'utf8';
  const document = await vscode.workspace.openTextDocument(uri);
  if (equal(await vscode.workspace.encode(before.text, { encoding: document.encoding }), before.bytes))
    return document.encoding;
  // Bytes that are no valid text in any of them came out as replacement characters; they must not
  // be written for the real ones.
  const hint = 'Open the file and reopen it with its encoding, or set files.encoding for it.';
  throw new ParleyError(
    'file-encoding',
    `The encoding of ${uri.fsPath} could not be found out, so writing it would damage it.`,
    { hint },
  );
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find((mark) => mark.bytes.every((byte, n) => bytes[n] === byte))?.encoding;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
