// Compares versions of agents.
import { compareVersions, validate } from 'compare-versions';

/** Returns whether a listed version is newer than an installed one; versions are mostly semantic. */
export function isNewer(listed: string, installed: string): boolean {
  const areVersions = validate(listed) && validate(installed);
  return areVersions ? compareVersions(listed, installed) > 0 : listed !== installed;
}
