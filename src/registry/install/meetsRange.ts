// Compares the user's Node.js with the range that an npm package names.

import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';

/** Returns whether a version meets a range, as npm decides; a range that npm can't read is met. */
export function meetsRange(version: string, range: string): boolean {
  return validRange(range) === null || satisfies(version, range, { includePrerelease: true });
}
