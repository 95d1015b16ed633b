// Chooses how an agent of the registry is installed on this machine.

import valid from 'semver/functions/valid.js';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { BinarySource, PackageSource, RegistryAgent } from '../list/registryAgent';

export type InstallSource =
  | ({ readonly kind: 'binary' } & BinarySource)
  | ({ readonly kind: 'npx' | 'uvx'; readonly name: string; readonly version: string } & Omit<
      PackageSource,
      'package'
    >);

/** Such as `linux-x86_64`. */
export function machineName(platform: NodeJS.Platform = process.platform, arch: string = process.arch): string {
  const systems: Readonly<Record<string, string>> = { darwin: 'darwin', linux: 'linux', win32: 'windows' };
  const processors: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };
  return `${systems[platform] ?? platform}-${processors[arch] ?? arch}`;
}

/**
 * Fewest requirements first: a program needs no package manager.
 * @throws ParleyError `not-for-this-machine`, `bad-package`
 */
export function installSources(agent: RegistryAgent, machine = machineName()): readonly InstallSource[] {
  const binary = agent.binary.get(machine);
  const packages = [
    agent.npx && npmPackage(agent.npx, agent.version),
    agent.uvx && pythonPackage(agent.uvx, agent.version),
  ].filter((source) => source !== undefined);
  const found: InstallSource[] = [
    ...(binary ? [{ kind: 'binary', ...binary } as const] : []),
    ...packages.filter((source) => typeof source !== 'string'),
  ];
  if (found.length > 0) return found;
  const [spec] = packages.filter((source) => typeof source === 'string');
  if (spec !== undefined)
    throw new ParleyError(
      'bad-package',
      localizable('The package of {0} in the registry is not one exact version: “{1}”.', agent.name, spec),
    );
  throw new ParleyError(
    'not-for-this-machine',
    localizable('{0} is not available for this system ({1}).', agent.name, machine),
  );
}

/** No leading hyphen: npm would read an option. */
const NPM_NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/;
const PYTHON_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9,._-]+\])?$/;
const PYTHON_VERSION = /^[0-9][0-9A-Za-z.!+-]{0,100}$/;

/** Returns the spec itself unless it is one exact version: addresses, files, ranges. */
function npmPackage({ package: spec, ...rest }: PackageSource, listed: string): InstallSource | string {
  const split = spec.indexOf('@', 1);
  const name = split < 0 ? spec : spec.slice(0, split);
  const version = valid(split < 0 ? listed : spec.slice(split + 1));
  return NPM_NAME.test(name) && version !== null ? { kind: 'npx', name, version, ...rest } : spec;
}

function pythonPackage({ package: spec, ...rest }: PackageSource, listed: string): InstallSource | string {
  const [name = '', version = listed] = spec.split(/==|@/, 2);
  const isExact = PYTHON_NAME.test(name) && PYTHON_VERSION.test(version);
  return isExact ? { kind: 'uvx', name, version, ...rest } : spec;
}
