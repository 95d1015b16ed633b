// Packs what was built into a VSIX that the Marketplace and Open VSX take.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createVSIX } from '@vscode/vsce';
import { repository } from '../../test/support/vscode/repository';
import { type AddressedManifest, baseUrls } from './addresses';
import { stagePackage } from './stagePackage';

export interface PackOptions {
  /** Where the files of this version can be read, instead of at the repository's host. */
  readonly baseUrl?: string | undefined;
  readonly preRelease?: boolean;
}

/** Bundles the extension. @param args of scripts/build.mjs @returns whether that went well */
export function buildExtension(args: readonly string[] = []): boolean {
  const build = [join(repository, 'scripts/build.mjs'), ...args];
  const { status } = spawnSync(process.execPath, build, { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] });
  return status === 0;
}

/**
 * Packs the repository. Written under another name and renamed, so the file is always complete.
 * @throws Error for a base URL that is no https address, and of vsce for what the Marketplace does
 * not take
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
      // Everything is bundled, so there are no dependencies to collect.
      dependencies: false,
      // A package for one's own use needs none; scripts/release.ts asks for it.
      allowMissingRepository: true,
      ...(base && { baseContentUrl: base.links, baseImagesUrl: base.pictures }),
    });
    renameSync(packagePath, target);
  } finally {
    rmSync(stage, { recursive: true, force: true });
    rmSync(packagePath, { force: true });
  }
}
