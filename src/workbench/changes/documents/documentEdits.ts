// Computes the edits after which saving a document yields given bytes.
import * as vscode from 'vscode';
import { decodeFile } from '../../editor/fileEncoding';
import { lineEdits } from './lineEdits';

export async function bytesOf(document: vscode.TextDocument): Promise<Buffer> {
  return Buffer.from(await vscode.workspace.encode(document.getText(), { encoding: document.encoding }));
}

/**
 * Returns the smallest line edits that give a document a content, or come closest (mixed line
 * endings, another encoding); undefined if the content is not text.
 */
export async function editsOf(
  document: vscode.TextDocument,
  content: Buffer,
): Promise<readonly vscode.TextEdit[] | undefined> {
  const wanted = await decodeFile(document.uri, content, document.encoding).catch(() => undefined);
  if (wanted === undefined) return undefined;
  const isCrlf = document.eol === vscode.EndOfLine.CRLF;
  const edits = lineEdits(document.getText(), withEnds(wanted, isCrlf)).map(({ start, end, text }) =>
    vscode.TextEdit.replace(new vscode.Range(document.positionAt(start), document.positionAt(end)), text),
  );
  const wantsCrlf = wanted.includes('\n') ? endsInCrlf(wanted) : isCrlf;
  if (wantsCrlf === isCrlf) return edits;
  return [...edits, vscode.TextEdit.setEndOfLine(wantsCrlf ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF)];
}

function withEnds(text: string, crlf: boolean): string {
  const plain = text.replace(/\r\n?/g, '\n');
  return crlf ? plain.replaceAll('\n', '\r\n') : plain;
}

/** Returns whether CRLF is more frequent than LF: documents use the more frequent one. */
function endsInCrlf(text: string): boolean {
  const all = text.split('\n').length - 1;
  return (text.split('\r\n').length - 1) * 2 > all;
}
