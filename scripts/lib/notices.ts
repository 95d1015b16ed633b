// Licences of all bundled packages, derived from the bundler's output, so that none is missed.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface BundleFacts {
  readonly outputs: Readonly<Record<string, { readonly inputs: Readonly<Record<string, unknown>> }>>;
}

/** Licence texts missing from their packages, in files named after these, with `+` for `/`. */
const LICENCES = 'scripts/licences';

const LICENCE_FILE = /^(licen[cs]e|copying|notice|third-?party-?notices?)([.-]|$)/i;

/**
 * Returns the content of ThirdPartyNotices.txt.
 * @param root base of the paths
 * @throws Error for a package without a licence text
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
