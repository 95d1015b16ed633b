// A bare git repository of our own that keeps the states of one folder.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { retryBusy } from '../../base/retryBusy';

/**
 * What decides over contents: nothing. A file is kept byte by byte, whatever `.gitattributes` says.
 * (`working-tree-encoding` has no value that turns it off, so it is unset.)
 */
const ATTRIBUTES = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff !merge\n';

/** The length of ids differs between the two. */
export type ObjectFormat = 'sha1' | 'sha256';

/**
 * Makes the store in a folder, or mends what is missing in it.
 * @param folder absolute
 */
export async function makeBareStore(folder: string, format: ObjectFormat): Promise<void> {
  const folders = ['objects/pack', 'objects/info', 'refs', 'info', 'large', 'indexes'];
  await Promise.all(folders.map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })));
  const files = { HEAD: 'ref:refs/heads/none\n', config: configOf(format), 'info/attributes': ATTRIBUTES };
  await Promise.all(Object.entries(files).map(([name, text]) => put(join(folder, name), Buffer.from(text))));
}

function configOf(format: ObjectFormat): string {
  return `[core]
\trepositoryformatversion = ${format === 'sha1' ? 0 : 1}
\tbare = false
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = false
\tsplitIndex = false
\thooksPath = /dev/null
\tlongpaths = true
\tprotectNTFS = false
\tprotectHFS = false
\tlogAllRefUpdates = false
\tfsync = none
[index]
\tversion = 2
\tsparse = false
[gc]
\tauto = 0
${format === 'sha1' ? '' : '[extensions]\n\tobjectFormat = sha256\n'}`;
}

/**
 * Writes a file in one step: other windows may be reading it. One that has the content already only
 * becomes as young as if it were written.
 */
export async function put(path: string, content: Buffer): Promise<void> {
  const present = await readFile(path).catch(() => undefined);
  if (present?.equals(content)) {
    const now = new Date();
    const isThere = await utimes(path, now, now).then(
      () => true,
      () => false,
    );
    if (isThere) return;
  }
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, content, { mode: 0o600 });
    await retryBusy(() => rename(beside, path));
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}
