// Compares versions of agents.
import coerce from 'semver/functions/coerce.js';
import compare from 'semver/functions/compare.js';
import gt from 'semver/functions/gt.js';
import valid from 'semver/functions/valid.js';

/**
 * Returns whether a listed version is newer than an installed one.
 * Most are semantic; `2026.11` is read as `2026.11.0`.
 */
export function isNewer(listed: string, installed: string): boolean {
  if (valid(listed) && valid(installed)) return gt(listed, installed);
  const [one, other] = [coerce(listed), coerce(installed)];
  const order = one && other ? compare(one, other) : 0;
  return order === 0 ? listed !== installed : order > 0;
}
