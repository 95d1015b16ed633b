// Packs the build output into a VSIX for the Marketplace and Open VSX.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { repository } from '../../test/support/vscode/repository';
import { type AddressedManifest, baseUrls } from './addresses';
import { stagePackage } from './stagePackage';

export interface PackOptions {
  /** Base URL of this version's files, replacing that of the repository's host. */
  readonly baseUrl?: string | undefined;
  readonly preRelease?: boolean;
}

export function buildExtension(args: readonly string[] = []): boolean {
  const build = [join(repository, 'scripts/build.mjs'), ...args];
  const { status } = spawnSync(process.execPath, build, { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] });
  return status === 0;
}

/**
 * Packs the repository; the file appears only when complete.
 * @throws Error for a base URL other than https, and of vsce
 */
export async function packVsix(target: string, { baseUrl, preRelease = false }: PackOptions = {}): Promise<void> {
  mkdirSync(join(repository, 'out'), { recursive: true });
  const stage = mkdtempSync(join(repository, 'out/package-'));
  const packagePath = `${target}.${process.pid}`;
  try {
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as AddressedManifest;
    const base = baseUrls(manifest, baseUrl);
    if (baseUrl !== undefined && base === undefined) throw new Error(`${baseUrl} is not an https address`);
    stagePackage(stage, base !== undefined);
    await createVSIX({
      cwd: stage,
      packagePath,
      preRelease,
      dependencies: false,
      // Optional for private packages; scripts/release.ts requires it.
      allowMissingRepository: true,
      ...(base && { baseContentUrl: base.links, baseImagesUrl: base.pictures }),
    });
    renameSync(packagePath, target);
  } finally {
    rmSync(stage, { recursive: true, force: true });
    rmSync(packagePath, { force: true });
  }
}
