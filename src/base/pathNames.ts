// Names in paths as file systems read them.

export function plainParts(path: string): readonly string[] {
  return path.split(/[\\/]/).map(plainName);
}

/**
 * A name as the least exact file system reads it: HFS+ leaves out characters that are not drawn,
 * Windows dots and spaces at the end and streams after a colon, and many take upper for lower case.
 */
function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
}

const DEVICE = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$) *(?:\.|$)/;
/** What no name there has. A colon separates a stream from the name of its file. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows forbids them in names.
const FORBIDDEN = /[<>:"|?*\x00-\x1f]/;

/**
 * Returns whether Windows reads a path as a file or a folder by just this name.
 * @param path absolute or relative, with either slash
 */
export function isWindowsFilePath(path: string): boolean {
  // `\\.\` leads to devices. `\\?\` and `\??\`, which skip the rules for names, have a forbidden character.
  if (/^[\\/]{2}\.[\\/]/.test(path)) return false;
  const names = path.replace(/^[a-z]:(?=[\\/]|$)/i, '').split(/[\\/]/);
  return names.every((name) => name === '.' || name === '..' || isFileName(name));
}

function isFileName(name: string): boolean {
  return !FORBIDDEN.test(name) && !/[. ]$/.test(name) && !DEVICE.test(name.toLowerCase());
}
