// Archives of the tests' own making, good and evil ones.
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { ZipFile } from 'yazl';

export type TarEntry = Partial<Header> & { readonly name: string; readonly text?: string | Buffer };

export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  archive.on('data', (chunk: unknown) => chunks.push(chunk as Buffer));
  const ended = new Promise((resolve) => archive.once('end', () => resolve(undefined)));
  for (const { text, ...header } of entries) {
    if (text === undefined) archive.entry(header);
    else archive.entry(header, text);
  }
  archive.finalize();
  await ended;
  return Buffer.concat(chunks);
}

export async function tgzOf(entries: readonly TarEntry[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries));
}

export async function zipOf(
  files: readonly { readonly name: string; readonly text: string | Buffer; readonly mode?: number }[],
): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { name, text, mode = 0o100644 } of files) zip.addBuffer(Buffer.from(text), name, { mode });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}
