// Decodes and encodes files by VS Code's rules, without an editor.
import * as vscode from 'vscode';
import { ParleyError } from '../../base/errors';

const MARKS: readonly { readonly encoding: string; readonly bytes: readonly number[] }[] = [
  { encoding: 'utf8bom', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf16be', bytes: [0xfe, 0xff] },
  { encoding: 'utf16le', bytes: [0xff, 0xfe] },
];

/** Encodings that VS Code may have detected in a file without a byte order mark. */
const GUESSED = [
  ...['windows1252', 'windows1250', 'windows1251', 'windows1253', 'windows1254', 'windows1255', 'windows1256'],
  ...['iso88591', 'iso88592', 'iso88595', 'iso88597', 'iso88598', 'iso88599', 'iso885915', 'koi8r', 'maccyrillic'],
  ...['shiftjis', 'eucjp', 'euckr', 'gb2312', 'gbk', 'gb18030', 'big5hkscs', 'cp866', 'cp852', 'windows874'],
];

export interface DecodedFile {
  readonly bytes: Uint8Array;
  readonly text: string;
}

type Encode = (text: string) => Promise<Uint8Array>;

/** @param encoding if known (from an open document) @throws ParleyError `file-not-text` */
export async function decodeFile(uri: vscode.Uri, bytes: Uint8Array, encoding?: string): Promise<string> {
  try {
    const knownEncoding = encoding ?? markOf(bytes);
    const text = await (knownEncoding === undefined
      ? vscode.workspace.decode(bytes, { uri })
      : vscode.workspace.decode(bytes, { encoding: knownEncoding }));
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  } catch (cause) {
    throw new ParleyError('file-not-text', `${uri.fsPath} is not a text file.`, { cause });
  }
}

/** @throws ParleyError `file-encoding` if the encoding is unknown or lacks characters */
export async function encodeLike(
  uri: vscode.Uri,
  before: DecodedFile,
  text: string,
  encoding?: string,
): Promise<Uint8Array> {
  if (before.bytes.length === 0) return encodeChecked(uri, text, encoding);
  const knownEncoding = encoding ?? markOf(before.bytes);
  const named = knownEncoding === undefined ? [undefined, 'utf8'] : [knownEncoding];
  for (const one of named) if (await isExact(uri, before, one)) return encodeChecked(uri, text, one);
  const guessed: string[] = [];
  if (knownEncoding === undefined)
    for (const one of GUESSED)
      if ((await decodesTo(uri, before, one)) && (await isExact(uri, before, one))) guessed.push(one);
  const [first] = guessed;
  if (first === undefined) throw unknownEncoding(uri);
  const bytes = await encodeChecked(uri, text, first);
  // Encodings that agree on the file's characters may differ for new ones.
  for (const one of guessed) if (!equal(await encoder(uri, one)(text), bytes)) throw unknownEncoding(uri);
  return bytes;
}

/** Uses the configured encoding; preserves a byte order mark written by the agent. */
export async function encodeNew(uri: vscode.Uri, text: string): Promise<Uint8Array> {
  return text.startsWith('\ufeff') ? encodeChecked(uri, text.slice(1), 'utf8bom') : encodeChecked(uri, text, undefined);
}

/** Returns whether saving a clean document would produce exactly the bytes of the file. */
export async function isExact(uri: vscode.Uri, { bytes, text }: DecodedFile, encoding?: string): Promise<boolean> {
  return equal(await encoder(uri, encoding)(text), bytes);
}

async function decodesTo(uri: vscode.Uri, { bytes, text }: DecodedFile, encoding?: string): Promise<boolean> {
  return (await decodeFile(uri, bytes, encoding).catch(() => undefined)) === text;
}

async function encodeChecked(uri: vscode.Uri, text: string, encoding: string | undefined): Promise<Uint8Array> {
  const bytes = await encoder(uri, encoding)(text);
  // VS Code may detect another encoding in a file that it wrote by its settings.
  const configured = vscode.workspace.getConfiguration('files', uri).get<string>('encoding');
  for (const one of encoding === undefined ? [undefined, configured, 'utf8'] : [encoding])
    if (await decodesTo(uri, { bytes, text }, one)) return bytes;
  const name = encoding ?? configured ?? 'its encoding';
  throw new ParleyError(
    'file-encoding',
    `${uri.fsPath} is written in ${name}, which does not have all characters of the new text.`,
  );
}

function encoder(uri: vscode.Uri, encoding: string | undefined): Encode {
  const { workspace } = vscode;
  return async (text) =>
    encoding === undefined ? workspace.encode(text, { uri }) : workspace.encode(text, { encoding });
}

function unknownEncoding({ fsPath }: vscode.Uri): ParleyError {
  const hint = 'Open the file and reopen it with its encoding, or set files.encoding for it.';
  return new ParleyError(
    'file-encoding',
    `The encoding of ${fsPath} could not be found out, so writing it would damage it.`,
    { hint },
  );
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find((mark) => mark.bytes.every((byte, n) => bytes[n] === byte))?.encoding;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
