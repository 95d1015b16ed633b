// Checks the repository before a release.
import { type AddressedManifest, repositoryUrl } from './addresses';

export interface ReleaseFacts {
  readonly manifest: AddressedManifest;
  readonly lockedVersion: unknown;
  readonly changelog: string;
  /** Output of `git status --porcelain`. */
  readonly changes: string;
  readonly tags: readonly string[];
  readonly preRelease: boolean;
}

/** Returns what is missing, with instructions. */
export function releaseProblems(facts: ReleaseFacts): readonly string[] {
  const { manifest, lockedVersion, changes, tags } = facts;
  const { version } = manifest;
  return [
    ...versionProblems(version, facts.preRelease),
    ...(lockedVersion === version ? [] : [`package-lock.json has version ${lockedVersion}. Run npm install.`]),
    ...changelogProblems(facts.changelog, version),
    ...(changes.trim() === '' ? [] : ['The working tree has changes. Commit them.']),
    ...(tags.includes(`v${version}`) ? [] : [`This commit has no tag v${version}. Tag it, and push the tag.`]),
    ...(repositoryUrl(manifest) === undefined
      ? ['package.json has no “repository” with an https address. Add the one that readers can open.']
      : []),
  ];
}

/** The Marketplace has no “-beta”: even minor versions are releases, odd ones pre-releases. */
function versionProblems(version: string, preRelease: boolean): readonly string[] {
  const minor = /^\d+\.(\d+)\.\d+$/.exec(version)?.[1];
  if (minor === undefined) return [`The version ${version} is not of the form 1.2.3.`];
  const isOdd = Number(minor) % 2 === 1;
  if (isOdd === preRelease) return [];
  return isOdd
    ? [`The version ${version} is a pre-release, as its minor version is odd. Add --pre-release, or raise it.`]
    : [`The version ${version} is a release, as its minor version is even. Leave out --pre-release, or raise it.`];
}

function changelogProblems(changelog: string, version: string): readonly string[] {
  const sections = changelog.split(/^## /m).slice(1);
  const sectionOf = (name: string): string | undefined =>
    sections.find((section) => section.startsWith(`[${name}]`))?.replace(/^.*\n?/, '');
  const heading = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm');
  return [
    ...(heading.test(changelog) ? [] : [`CHANGELOG.md has no section “[${version}] - YYYY-MM-DD”.`]),
    ...(sectionOf(version)?.trim() === '' ? [`The section ${version} of CHANGELOG.md is empty.`] : []),
    ...((sectionOf('Unreleased') ?? '').trim() === ''
      ? []
      : [`CHANGELOG.md lists changes as “Unreleased”. Move them to ${version}.`]),
  ];
}
