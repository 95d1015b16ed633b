// The licences of everything that is bundled, as their authors demand: found from what the bundler
// has put in, so that a new package cannot be forgotten.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What of a metafile of esbuild is read. */
export interface BundleFacts {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

/**
 * Texts of licences that their packages do not bring along, each named as its package with `+` for
 * `/`.
 */
const LICENCES = 'scripts/licences';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|third-?party-?notices?)([.-]|$)/i;

/**
 * @param root the folder that their paths are relative to
 * @returns the text of ThirdPartyNotices.txt
 * @throws Error for a package without a text of its licence
 */
export async function noticesOf(metafiles: readonly BundleFacts[], root: string): Promise<string> {
  const folders = new Set(metafiles.flatMap(bundledPackages));
  const notices = await Promise.all([...folders].sort().map((folder) => noticeOf(root, folder)));
  return [
    'Parley contains the following software of others. Their licences apply to these parts.',
    ...notices,
    '',
  ].join(`\n\n${'='.repeat(80)}\n\n`);
}

/** The folders of packages of which something is in an output, relative to the root. */
export function bundledPackages({ outputs }: BundleFacts): readonly string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  return inputs.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly homepage?: string;
}

async function noticeOf(root: string, folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license, homepage } = manifest;
  const own = (await readdir(join(root, folder))).filter((file) => LICENCE_FILE.test(file)).sort();
  const files =
    own.length > 0
      ? own.map((file) => join(root, folder, file))
      : [join(root, LICENCES, `${name.replace('/', '+')}.txt`)].filter((file) => existsSync(file));
  if (files.length === 0) throw new Error(`${name} ${version} is bundled and brings no text of its licence`);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const heading = [`${name} ${version} (${license})`, ...(homepage ? [homepage] : [])].join('\n');
  return [heading, ...texts.map((text) => text.trim())].join('\n\n');
}
