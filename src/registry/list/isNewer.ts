// Compares versions of agents.
import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';

/** Returns whether a listed version is newer than an installed one; versions are mostly semantic. */
export function isNewer(listed: string, installed: string): boolean {
  const [one, other] = [valid(listed, { loose: true }), valid(installed, { loose: true })];
  return one !== null && other !== null ? gt(one, other) : listed !== installed;
}
