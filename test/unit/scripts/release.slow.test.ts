// `npm run release` on a copy of the repository.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { vsixProblems } from '../../../scripts/lib/vsixRules';
import { cacheFolder } from '../../support/vscode/repository';

const root = process.cwd();
const ADDRESS = 'https://github.com/someone/parley';

describe('npm run release', function () {
  this.timeout(180_000);
  let scratch: string;

  beforeEach(() => {
    scratch = realpathSync(mkdtempSync(join(tmpdir(), 'parley-release-')));
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  function repositoryOf(change: (manifest: Record<string, unknown>) => void): string {
    const folder = join(scratch, 'repository');
    const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
    const names = listed.stdout.split('\0').filter((name) => name !== '' && !/^test\/(golden|fixtures)\//.test(name));
    for (const name of names) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      cpSync(join(root, name), join(folder, name));
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const file of ['package.json', 'package-lock.json']) {
      const value = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>;
      change(value);
      writeFileSync(join(folder, file), JSON.stringify(value, undefined, 2));
    }
    return folder;
  }

  const run = (folder: string, command: string, ...args: readonly string[]) =>
    spawnSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PARLEY_REPOSITORY: folder, PARLEY_CACHE: cacheFolder, VSCE_PAT: 'secret-one' },
    });
  const git = (folder: string, ...args: readonly string[]): void => {
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@a.example', '-c', 'commit.gpgsign=false'];
    const { status, stderr } = run(folder, 'git', ...who, ...args);
    assert.equal(status, 0, stderr);
  };

  it('does everything except the upload in a dry run', async () => {
    const folder = repositoryOf((manifest) => {
      manifest.version = '1.2.3';
      if ('engines' in manifest) manifest.repository = { type: 'git', url: `${ADDRESS}.git` };
    });
    const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
    writeFileSync(join(folder, 'CHANGELOG.md'), changelog.replace('## [Unreleased]', '## [1.2.3] - 2026-01-31'));
    writeFileSync(join(folder, '.gitignore'), 'node_modules\ndist/\nout/\n.cache/\n');
    git(folder, 'init', '-q');
    git(folder, 'add', '-A');
    git(folder, 'commit', '-qm', 'Release 1.2.3');
    git(folder, 'tag', 'v1.2.3');
    const { status, stdout, stderr } = run(folder, process.execPath, 'scripts/run.mjs', 'release', '--dry-run');
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Dry run: nothing was uploaded\.\n$/);
    assert.match(stdout, /Visual Studio Marketplace: would run publish --packagePath \S+parley\.vsix/);
    assert.match(stdout, /Open VSX: would run publish \S+parley\.vsix --skip-duplicate\n\d+\.\d+\.\d+/);
    assert.ok(!stdout.includes('secret-one'));
    const vsix = join(folder, 'dist/parley.vsix');
    assert.deepEqual(await vsixProblems(vsix), []);
    const readme = run(folder, 'unzip', '-p', vsix, 'extension/readme.md').stdout;
    assert.ok(readme.includes('](https://raw.githubusercontent.com/someone/parley/v1.2.3/media/screenshot.png)'));
    assert.ok(readme.includes(`](${ADDRESS}/blob/v1.2.3/docs/agents.md)`));

    const refused = run(folder, process.execPath, 'scripts/run.mjs', 'release', '--pre-release');
    assert.equal(refused.status, 1);
    assert.match(refused.stdout, /- The version 1\.2\.3 is a release/);
    assert.match(refused.stdout, /- OVSX_PAT is not set\./);
  });
});
