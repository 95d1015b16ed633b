// Publishes the version of package.json to both registries after checking and packing it.
// `--pre-release`: odd minor version; `--dry-run`: no upload; `--base-url URL`: of the README's
// pictures.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repository, vsixPath } from '../test/support/vscode/repository';
import { type AddressedManifest, baseUrls } from './lib/addresses';
import { buildExtension, packVsix } from './lib/packVsix';
import { releaseProblems } from './lib/releaseChecks';
import { REGISTRIES, runPublisher, takeTokens } from './lib/uploads';
import { vsixProblems } from './lib/vsixRules';

const say = (text: string): boolean => process.stdout.write(`${text}\n`);
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const git = (...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
};

async function release(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      'dry-run': { type: 'boolean', default: false },
      'pre-release': { type: 'boolean', default: false },
      'base-url': { type: 'string' },
    },
  });
  const { 'dry-run': dryRun, 'pre-release': preRelease, 'base-url': baseUrl } = values;
  const tokens = takeTokens(process.env);
  const manifest = JSON.parse(read('package.json')) as AddressedManifest;
  const ready = releaseProblems({
    manifest,
    lockedVersion: (JSON.parse(read('package-lock.json')) as { readonly version: unknown }).version,
    changelog: read('CHANGELOG.md'),
    changes: git('status', '--porcelain'),
    tags: git('tag', '--points-at', 'HEAD').split('\n'),
    preRelease,
  });
  const problems = [
    ...ready,
    ...(baseUrls(manifest, baseUrl) === undefined
      ? [
          'Nobody knows where the README’s pictures are. Add --base-url with the https address of the files of this version.',
        ]
      : []),
    ...(dryRun ? [] : REGISTRIES.filter(({ token }) => !tokens.has(token)).map(({ token }) => `${token} is not set.`)),
  ];
  if (problems.length > 0) return refuse(`Version ${manifest.version} is not ready:`, problems);

  say(`Building ${manifest.version}${preRelease ? ' as a pre-release' : ''}…`);
  if (!buildExtension()) return false;
  await packVsix(vsixPath, { baseUrl, preRelease });
  const broken = await vsixProblems(vsixPath);
  if (broken.length > 0) return refuse('The package would be refused:', broken);
  say(`dist/parley.vsix is ready.`);

  let isPublished = true;
  for (const registry of REGISTRIES) {
    const program = registry.program();
    const args = registry.args(vsixPath, preRelease);
    // A dry run only checks that the program starts.
    const token = dryRun ? undefined : tokens.get(registry.token);
    say(dryRun ? `${registry.name}: would run ${args.join(' ')}` : `${registry.name}: uploading…`);
    const went = await runPublisher(registry, program, dryRun ? ['--version'] : args, token, say);
    if (!went) say(`${registry.name}: FAILED`);
    isPublished &&= went;
  }
  if (dryRun && isPublished) say('Dry run: nothing was uploaded.');
  return isPublished;
}

function refuse(title: string, problems: readonly string[]): false {
  say([title, ...problems.map((problem) => `- ${problem}`)].join('\n'));
  return false;
}

process.exitCode = (await release()) ? 0 : 1;
