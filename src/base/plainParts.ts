// The names in a path, as the least exact file system reads them.

/** Splits a path at both slashes, as both separate somewhere, and gives the plain names. */
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
