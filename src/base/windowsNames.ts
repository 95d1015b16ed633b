// Paths of Windows by their spelling: which ones lead to a file, and not to a device, a stream beside
// a file's text, or a name that other programs read as another one.

/** In small letters; a device with any extension is still the device. */
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
