// Checks the VSIX against rules of the Marketplace and Open VSX that vsce does not check.
import { statSync } from 'node:fs';
import { posix } from 'node:path';
import { readArchive } from './readArchive';

/** Far above Parley's size: a larger package contains something by mistake. */
export const MAX_VSIX_BYTES = 3_000_000;

const CATEGORIES: ReadonlySet<string> = new Set([
  'AI',
  'Azure',
  'Chat',
  'Data Science',
  'Debuggers',
  'Education',
  'Extension Packs',
  'Formatters',
  'Keymaps',
  'Language Packs',
  'Linters',
  'Machine Learning',
  'Notebooks',
  'Other',
  'Programming Languages',
  'SCM Providers',
  'Snippets',
  'Testing',
  'Themes',
  'Visualization',
]);
const MAX_TAGS = 30;
const MIN_ICON = 128;
/** Maximum characters of a text on Open VSX. */
const MAX_LINE = 255;
const MAX_DESCRIPTION = 2_048;

interface Manifest {
  readonly [key: string]: unknown;
  readonly contributes?: { readonly walkthroughs?: readonly Walkthrough[] };
}

interface Walkthrough {
  readonly steps: readonly { readonly media: { readonly markdown?: string } }[];
}

/** Returns the problems of a VSIX, as sentences. @throws Error if it is not a zip archive */
export async function vsixProblems(path: string): Promise<readonly string[]> {
  const files = await readArchive(path);
  const text = (name: string): string => files.get(name)?.toString('utf8') ?? '';
  const xml = text('extension.vsixmanifest');
  const manifest = JSON.parse(text('extension/package.json') || '{}') as Manifest;
  const size = statSync(path).size;
  return [
    ...(size > MAX_VSIX_BYTES ? [`The package has ${size} bytes, more than ${MAX_VSIX_BYTES}.`] : []),
    ...identityProblems(manifest, xml),
    ...textProblems(manifest),
    ...listProblems(manifest, xml),
    ...addressProblems(manifest),
    ...iconProblems(manifest, files),
    ...fileProblems(manifest, files, xml),
    ...['extension/readme.md', 'extension/changelog.md'].flatMap((name) => markdownProblems(name, text(name))),
  ];
}

function identityProblems({ publisher, name, version, engines, ...rest }: Manifest, xml: string): readonly string[] {
  const identity = /<Identity [^>]*\/>/.exec(xml)?.[0] ?? '';
  const isSame = [`Id="${name}"`, `Version="${version}"`, `Publisher="${publisher}"`].every((one) =>
    identity.includes(one),
  );
  const vscode = String((engines as { readonly vscode?: unknown } | undefined)?.vscode);
  return [
    ...(isName(publisher) ? [] : ['The publisher is not a valid name.']),
    ...(isName(name) ? [] : ['The name is not valid.']),
    ...(/^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(String(version)) ? [] : ['The version is not of the form 1.2.3.']),
    ...(/^\^1\.\d+\.\d+$/.test(vscode) ? [] : ['engines.vscode is not of the form ^1.2.3.']),
    ...(isSame ? [] : ['extension.vsixmanifest is not about the same version.']),
    ...['enabledApiProposals', 'enableProposedApi', 'dependencies', 'extensionDependencies', 'badges']
      .filter((key) => key in rest)
      .map((key) => `package.json has ${key}.`),
  ];
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_LINE && /^[a-z0-9][a-z0-9-]*$/i.test(value);
}

function textProblems(manifest: Manifest): readonly string[] {
  const limits = { displayName: MAX_LINE, description: MAX_DESCRIPTION, license: MAX_LINE };
  return Object.entries(limits).flatMap(([key, limit]) => {
    const value = manifest[key];
    if (typeof value !== 'string' || value.trim() === '') return [`package.json has no ${key}.`];
    if (value.startsWith('%')) return [`${key} is not translated on the pages of the registries.`];
    const isPlain = value.length <= limit && !/[\p{C}\p{Zl}\p{Zp}]/u.test(value);
    return isPlain ? [] : [`${key} is too long or has invisible characters.`];
  });
}

function listProblems({ categories, keywords, galleryBanner }: Manifest, xml: string): readonly string[] {
  const listed = Array.isArray(categories) ? (categories as unknown[]).map(String) : [];
  const tags = (/<Tags>([^<]*)<\/Tags>/.exec(xml)?.[1] ?? '').split(',').filter(Boolean);
  const { color, theme } = (galleryBanner ?? {}) as { readonly color?: string; readonly theme?: string };
  return [
    ...(listed.length > 0 ? [] : ['package.json has no categories.']),
    ...listed.filter((one) => !CATEGORIES.has(one)).map((one) => `There is no category ${one}.`),
    ...(Array.isArray(keywords) ? [] : ['package.json has no keywords.']),
    ...(tags.length > MAX_TAGS ? [`There are ${tags.length} tags, more than ${MAX_TAGS}.`] : []),
    ...(color === undefined || /^#[0-9a-f]{6}$/i.test(color) ? [] : ['galleryBanner.color is not a colour.']),
    ...(theme === undefined || theme === 'dark' || theme === 'light' ? [] : ['galleryBanner.theme is not known.']),
  ];
}

function addressProblems({ repository, bugs, homepage }: Manifest): readonly string[] {
  const urlOf = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'url' in value ? value.url : value;
  return Object.entries({ repository, bugs, homepage }).flatMap(([key, value]) => {
    const url = urlOf(value);
    if (url === undefined) return [];
    const isGood = typeof url === 'string' && url.length <= MAX_LINE && /^(git\+)?https:\/\/[^/\s]+\S*$/.test(url);
    return isGood ? [] : [`${key} is not an https address.`];
  });
}

function iconProblems({ icon }: Manifest, files: ReadonlyMap<string, Buffer>): readonly string[] {
  const png = files.get(`extension/${icon}`);
  if (png === undefined) return ['There is no icon.'];
  const isPng = png.length > 24 && png.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n';
  if (!isPng) return ['The icon is not a PNG.'];
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  return width >= MIN_ICON && height === width ? [] : [`The icon has ${width} × ${height} pixels.`];
}

function fileProblems(manifest: Manifest, files: ReadonlyMap<string, Buffer>, xml: string): readonly string[] {
  const pages = manifest.contributes?.walkthroughs?.flatMap(({ steps }) => steps.map(({ media }) => media.markdown));
  const shown = (pages ?? []).filter((path) => typeof path === 'string');
  const pictures = shown.flatMap((page) => {
    const text = files.get(`extension/${page}`)?.toString('utf8') ?? '';
    return [...text.matchAll(/!\[[^\]]*\]\((?!https:)([^)\s]+)/g)].map(([, name]) =>
      posix.join(posix.dirname(page), name ?? ''),
    );
  });
  const named = [manifest.main, ...shown, ...pictures].filter((path) => typeof path === 'string');
  const assets = ['Content.Details', 'Content.Changelog', 'Content.License', 'Icons.Default'];
  return [
    ...named
      .map((path) => path.replace(/^\.\//, ''))
      .filter((path) => !files.has(`extension/${path}`))
      .map((path) => `${path} is missing.`),
    ...assets
      .filter((asset) => !xml.includes(`Type="Microsoft.VisualStudio.Services.${asset}"`))
      .map((asset) => `extension.vsixmanifest names no ${asset}.`),
    ...[...files.keys()]
      .filter((path) => /\.(map|tsx?|vsix|pem|key)$|(^|\/)\.(?!vscodeignore)/.test(path))
      .map(leftover),
  ];
}

function leftover(path: string): string {
  return `${path} does not belong into a package.`;
}

/** Registry pages load pictures only over https, no SVG, and can't follow relative links. */
function markdownProblems(name: string, text: string): readonly string[] {
  const prose = text.replace(/^[ \t]*```[\s\S]*?^[ \t]*```$/gm, '').replace(/`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, target]) => target ?? '');
  const pictures = [...prose.matchAll(/!\[[^\]]*\]\(([^)\s]+)|<img[^>]+src="([^"]*)"/g)].map((one) => one[1] ?? one[2]);
  return [
    ...(text.trim() === '' ? [`${name} is empty.`] : []),
    ...links.filter((url) => !/^(https:\/\/|#|mailto:)/.test(url)).map((url) => `${name}: ${url} leads nowhere.`),
    ...pictures.filter((url) => !/^https:/.test(url ?? '')).map((url) => `${name}: the picture ${url} is not https.`),
    ...pictures.filter((url) => /\.svg($|\?)/i.test(url ?? '')).map((url) => `${name}: ${url} is an SVG.`),
    ...(/<svg|<script|<iframe/i.test(prose) ? [`${name} has HTML that is refused.`] : []),
  ];
}
