// Whether a version meets a range of npm, as packages name the Node that they need.
import { satisfies } from 'compare-versions';

/** A version that stands for all that begin with it: `18`, `18.2`, `20.x`. */
const PARTIAL = /^v?(\d+|\d+\.\d+)(?:\.[x*])*$/i;

/** A range that cannot be read is met: npm decides about it. */
export function meetsRange(version: string, range: string): boolean {
  // A prerelease is as good as the version that it becomes.
  const [release = version] = version.split(/[-+]/, 1);
  try {
    return range.split('||').some((part) => meetsAll(release, part.trim()));
  } catch {
    return true;
  }
}

function meetsAll(version: string, range: string): boolean {
  const [from, to] = range.split(/\s+-\s+/, 2);
  if (to !== undefined) return satisfies(version, `>=${from}`) && satisfies(version, upTo(to));
  const parts = range.replace(/([<>=~^]+)\s+/g, '$1').split(/\s+/);
  return parts.every((part) => /^(?:[*x]?|latest)$/i.test(part) || satisfies(version, comparator(part)));
}

function comparator(part: string): string {
  if (part.startsWith('<=')) return upTo(part.slice(2));
  const partial = PARTIAL.exec(part.replace(/^=/, ''));
  return partial ? `~${partial[1]}` : part;
}

/** `<=18` and `16 - 18` include all that begins with 18. */
function upTo(last: string): string {
  const partial = PARTIAL.exec(last)?.[1];
  if (partial === undefined) return `<=${last}`;
  const numbers = partial.split('.').map(Number);
  numbers.push(numbers.pop()! + 1);
  return `<${numbers.join('.')}`;
}
