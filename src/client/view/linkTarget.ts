// Parses links in agents' texts. Agents aren't trusted, so only web pages and existing files are
// followed.
import * as nodePath from 'node:path';
import * as l10n from '@vscode/l10n';
import { pathOfFileAddress } from '../../acp/protocol/fileAddress';
import { candidatePathsOf, isSafeToLookUp } from '../requests/roots';

/**
 * Possible paths, the likeliest first; absolute or relative to a root. `line` and `column` are
 * 1-based.
 */
export interface FileTarget {
  readonly kind: 'file';
  readonly paths: readonly string[];
  readonly line?: number;
  readonly column?: number;
}

export type LinkTarget =
  | FileTarget
  | { readonly kind: 'web'; readonly url: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Genuine links are shorter; in UTF-16 units. */
const MAX_LENGTH = 8_192;

/**
 * Parses the `href` of a link: `http:` and `https:` URLs; local `file:` URLs and paths, with a line
 * as `#L10`, `#L10C3`, `:10` or `:10:3`. Refuses every other scheme, above all `command:` and
 * `vscode:`, which would let an agent's text act in the editor.
 */
export function parseLink(href: string): LinkTarget {
  const text = href.trim();
  if (text === '' || text.startsWith('#')) return refused(l10n.t('The link has no target.'));
  // Some URL parsers skip control characters (`java\nscript:`), so the link that is checked would
  // differ from the one that is opened.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (text.length > MAX_LENGTH || /[\u0000-\u001f\u007f]/.test(text))
    return refused(l10n.t("The link isn't a valid address."));
  if (/^[\\/]{2}/.test(text)) return refused(l10n.t("Parley doesn't open links to network locations."));
  const scheme = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text);
  if (!scheme || /^[a-z]:[\\/]/i.test(text) || /^\d+(:\d+)?$/.test(scheme[2] ?? '')) return path(text);
  switch (scheme[1]?.toLowerCase()) {
    case 'http':
    case 'https':
      return web(text);
    case 'file':
      return fileAddress(text);
    default:
      return refused(l10n.t("Parley doesn't open {0} links from agents.", `${scheme[1]}:`));
  }
}

/** A leading slash may also mean the project root, as on the web. */
export function candidatesOf(
  paths: readonly string[],
  roots: readonly string[],
  flavour: nodePath.PlatformPath = nodePath,
): readonly string[] {
  const below = paths.flatMap((path) => (path.startsWith('/') ? roots.map((root) => flavour.join(root, path)) : []));
  const places = paths.flatMap((path) => candidatePathsOf(path, roots, flavour));
  return [...new Set([...places, ...below.filter((place) => isSafeToLookUp(place, roots, flavour))])];
}

function web(text: string): LinkTarget {
  return URL.canParse(text) ? { kind: 'web', url: text } : refused(l10n.t("The link isn't a valid address."));
}

function fileAddress(text: string): LinkTarget {
  if (/^file:[\\/]{2}(?!localhost\/|\/[^\\/])/i.test(text))
    return refused(l10n.t("Parley doesn't open links to network locations."));
  const place = /#L?\d+(?:[C:,]\d+)?(?:-.*)?$/i.exec(text)?.[0] ?? '';
  const address = text.slice(0, text.length - place.length);
  const named = pathOfFileAddress(address);
  if (named === address) return refused(l10n.t("The link isn't a valid address."));
  return { ...path(named), ...(place && positionOfHash(place)) };
}

function path(text: string): FileTarget {
  const hash = text.indexOf('#');
  const beforeHash = hash < 0 ? text : text.slice(0, hash);
  const suffix = /^(.+?):(\d+)(?::(\d+))?$/s.exec(beforeHash);
  const plain = suffix?.[1] ?? beforeHash;
  const anchor = hash < 0 ? {} : positionOfHash(text.slice(hash));
  const place = anchor.line === undefined ? positionOf(suffix?.[2], suffix?.[3]) : anchor;
  // Markdown writes spaces as %20, but names may contain that too, or a colon or a hash.
  const paths = new Set([plain, decoded(plain), text, decoded(text)]);
  return { kind: 'file', paths: [...paths], ...place };
}

/** `#L10`, `#L10C3`, `#L10-L20`, `#10`. */
function positionOfHash(hash: string): { line?: number; column?: number } {
  const place = /^#L?(\d+)(?:[C:,](\d+))?(?:-.*)?$/i.exec(hash);
  return positionOf(place?.[1], place?.[2]);
}

function positionOf(line: string | undefined, column: string | undefined): { line?: number; column?: number } {
  const number = (digits: string | undefined): number => Math.min(Number(digits ?? 0), 2 ** 31 - 1);
  return {
    line: number(line) > 0 ? number(line) : undefined,
    column: number(column) > 0 ? number(column) : undefined,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused(reason: string): LinkTarget {
  return { kind: 'refused', reason };
}
