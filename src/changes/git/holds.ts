// Names of held states: refs by session and name.
import { createHash } from 'node:crypto';

const ROOT = 'refs/parley';
/** Characters; file systems allow 255 bytes, and git appends to the name. */
const MAX_NAME = 150;

/** The ref that holds a state for a session under a name. */
export function holdRef(session: string, name: string): string {
  return `${ROOT}/${refPart(session)}/${refPart(name)}`;
}

/** Any text as one part of a ref's name. */
function refPart(text: string): string {
  const part = encodeURIComponent(text).replace(/[~*.!'()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return part.length <= MAX_NAME ? part : createHash('sha256').update(text).digest('hex');
}
