// File names as file systems interpret them.

export function plainParts(path: string): readonly string[] {
  return path.split(/[\\/]/).map(plainName);
}

/** HFS+ ignores invisible characters, Windows trailing dots, spaces and streams, many the case. */
function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/:.*$/, '')
    .replace(/[. ]+$/, '');
}

const DEVICE = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$) *(?:\.|$)/;
/** Invalid on Windows. A colon separates a stream from the file name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Windows forbids them in names.
const FORBIDDEN = /[<>:"|?*\x00-\x1f]/;

/** Whether Windows resolves each part of the path to a file or folder of that exact name. */
export function isWindowsFilePath(path: string): boolean {
  // `\\.\` leads to devices. `\\?\` and `\??\` contain a forbidden character.
  if (/^[\\/]{2}\.[\\/]/.test(path)) return false;
  const names = path.replace(/^[a-z]:(?=[\\/]|$)/i, '').split(/[\\/]/);
  return names.every((name) => name === '.' || name === '..' || isFileName(name));
}

function isFileName(name: string): boolean {
  return !FORBIDDEN.test(name) && !/[. ]$/.test(name) && !DEVICE.test(name.toLowerCase());
}
