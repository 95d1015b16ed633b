// Unpacks a tar archive, optionally compressed with gzip or bzip2.
import { createReadStream } from 'node:fs';
import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import * as l10n from '@vscode/l10n';
import { extract, type Header } from 'tar-stream';
import bunzip2 from 'unbzip2-stream';
import { oneLine } from '../../base/text';
import { evil, type UnpackTarget } from './unpackTarget';

export type TarCompression = 'none' | 'gzip' | 'bzip2';

/** @throws ParleyError `evil-archive`, `bad-archive`; the reason of `signal` */
export async function unpackTar(
  path: string,
  compression: TarCompression,
  target: UnpackTarget,
  signal: AbortSignal,
): Promise<void> {
  const entries = extract();
  let refused: unknown;
  entries.on('entry', (header, stream, next) => {
    // tar-stream has streams of its own, which are not Node's.
    const content = Readable.from(stream as AsyncIterable<Uint8Array>);
    take(header, content, target, signal).then(
      () => next(),
      (error: unknown) => {
        refused = error;
        entries.destroy(error instanceof Error ? error : new Error('refused'));
      },
    );
  });
  try {
    await pipeline(createReadStream(path), decoder(compression), entries as unknown as NodeJS.WritableStream, {
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw refused ?? error;
  }
}

async function take(header: Header, content: Readable, target: UnpackTarget, signal: AbortSignal): Promise<void> {
  const { name, type, mode } = header;
  if (type === 'file' || type === 'contiguous-file') return target.file(name, (mode & 0o111) !== 0, content, signal);
  if (type !== 'directory')
    throw evil(l10n.t('“{0}” in it is neither a file nor a folder ({1})', oneLine(name, 100), type));
  await target.folder(name);
  content.resume();
}

function decoder(compression: TarCompression): Transform {
  if (compression === 'gzip') return createGunzip();
  if (compression === 'bzip2') return bunzip2() as unknown as Transform;
  return new PassThrough();
}
