// Unpacks a zip archive by its central directory, and verifies sizes and checksums.
import { Transform } from 'node:stream';
import { crc32 } from 'node:zlib';
import * as l10n from '@vscode/l10n';
import { type Entry, open, type ZipFile } from 'yauzl';
import { oneLine } from '../../base/text';
import { evil, type UnpackTarget } from './unpackTarget';

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

/** @throws ParleyError `evil-archive`; what yauzl throws for a damaged archive; the reason of `signal` */
export async function unpackZip(path: string, target: UnpackTarget, signal: AbortSignal): Promise<void> {
  const zip = await opened(path);
  try {
    for (;;) {
      signal.throwIfAborted();
      const entry = await nextEntry(zip);
      if (entry === undefined) return;
      await take(zip, entry, target, signal);
    }
  } finally {
    zip.close();
  }
}

async function take(zip: ZipFile, entry: Entry, target: UnpackTarget, signal: AbortSignal): Promise<void> {
  const { fileName: name } = entry;
  // Unix mode of the file; 0 if the archive was made on another system.
  const mode = entry.versionMadeBy >>> 8 === 3 ? entry.externalFileAttributes >>> 16 : 0;
  const type = mode & FILE_TYPE;
  if (entry.isEncrypted()) throw evil(l10n.t('“{0}” in it is encrypted', oneLine(name, 100)));
  if (type !== 0 && type !== REGULAR && type !== FOLDER)
    throw evil(l10n.t('“{0}” in it is neither a file nor a folder ({1})', oneLine(name, 100), type.toString(8)));
  if (/[/\\]$/.test(name) || type === FOLDER) return target.folder(name);
  const content = await new Promise<NodeJS.ReadableStream>((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream))),
  );
  let sum = 0;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum = crc32(chunk, sum);
      done(null, chunk);
    },
    flush: (done) => done(sum === entry.crc32 ? null : new Error('wrong checksum')),
  });
  content.on('error', (error) => checked.destroy(error));
  // A small file may fail before the target reads it, which then still learns why.
  checked.on('error', () => {});
  await target.file(name, (mode & 0o111) !== 0, content.pipe(checked), signal);
}

function opened(path: string): Promise<ZipFile> {
  // The target checks names, in the same way for all archives.
  const options = { lazyEntries: true, autoClose: false, validateEntrySizes: true, decodeStrings: true } as const;
  return new Promise((resolve, reject) => open(path, options, (error, zip) => (error ? reject(error) : resolve(zip))));
}

function nextEntry(zip: ZipFile): Promise<Entry | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (run: () => void): void => {
      zip.off('entry', onEntry).off('end', onEnd).off('error', onError);
      run();
    };
    const onEntry = (entry: Entry): void => settle(() => resolve(entry));
    const onEnd = (): void => settle(() => resolve(undefined));
    const onError = (error: Error): void => settle(() => reject(error));
    zip.on('entry', onEntry).on('end', onEnd).on('error', onError);
    zip.readEntry();
  });
}
