// Derives a safe file name from one chosen by an agent.

/** File systems allow 255 bytes; the difference is for suffixes. */
const MAX_BYTES = 200;
const MAX_ENDING_BYTES = 32;
const MAX_TITLE = 60;

/** Control, bidirectional and invisible characters, and lone surrogates. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
const SPECIAL = /[<>:"/\\|?*]/g;
const DEVICE =
  /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])\s*(?:\.|$)/i;

/**
 * Returns the last segment of a URI as a file name that is safe on all systems: at most 200 bytes
 * of UTF-8, visible characters, no leading dot; `untitled` if empty. Keeps the extension.
 */
export function fileNameOf(uri: string): string {
  const path = uri.split(/[?#]/, 1)[0]!.replace(/^[a-z][a-z0-9+.-]*:/i, '');
  // Decoding can reveal separators.
  const last = lastPart(decoded(lastPart(path)));
  const visible = last.normalize('NFC').replace(/\s+/g, ' ').replace(INVISIBLE, '').replace(SPECIAL, '_');
  const bounded = bound(withoutEdges(visible));
  const name = bounded === '' ? 'untitled' : bounded;
  return DEVICE.test(name) ? `_${name}` : name;
}

export function fileNameOfTitle(title: string): string {
  return fileNameOf(title.replace(/[\\/?#\r\n]/g, '_').slice(0, MAX_TITLE));
}

function lastPart(path: string): string {
  return path.split(/[\\/]/).findLast((part) => part !== '') ?? '';
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Some systems drop trailing dots and spaces, which makes it another name. */
function withoutEdges(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === '.' || name[end - 1] === ' ')) end--;
  return name.slice(0, end).replace(/^[. ]+/, '');
}

function bound(name: string): string {
  if (bytesOf(name) <= MAX_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const ending = dot > 0 && bytesOf(name.slice(dot)) <= MAX_ENDING_BYTES ? name.slice(dot) : '';
  let stem = '';
  let remaining = MAX_BYTES - bytesOf(ending);
  for (const character of name) {
    remaining -= bytesOf(character);
    if (remaining < 0) break;
    stem += character;
  }
  return `${withoutEdges(stem)}${ending}`;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
