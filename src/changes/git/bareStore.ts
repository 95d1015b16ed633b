// A bare git repository of our own that keeps the states of one folder.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { retryBusy } from '../../base/retryBusy';

/** Files are stored byte by byte. `working-tree-encoding` can't be turned off, so it is unset. */
const ATTRIBUTES = '* -text !eol !crlf !filter !ident !working-tree-encoding !diff !merge\n';

export type ObjectFormat = 'sha1' | 'sha256';

/** Creates the store, or repairs what is missing in it. */
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
 * Writes a file in one step, as other windows may be reading it. If the content is there already,
 * only its time is updated.
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
