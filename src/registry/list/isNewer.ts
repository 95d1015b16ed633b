// Compares versions of agents.

import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';

/** Returns whether a listed version is newer than an installed one; other than semantic ones are if they differ. */
export function isNewer(listed: string, installed: string): boolean {
  return valid(listed) && valid(installed) ? gt(listed, installed) : listed !== installed;
}
