// Release checks: what registries would reject is found before the upload.
import { strict as assert } from 'node:assert';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AddressedManifest, baseUrls, withPages } from '../../../scripts/lib/addresses';
import { type ReleaseFacts, releaseProblems } from '../../../scripts/lib/releaseChecks';
import { type Registry, runPublisher, takeTokens } from '../../../scripts/lib/uploads';
import { vsixProblems } from '../../../scripts/lib/vsixRules';
import { zipOf } from '../../support/archives';
import { noise } from '../../support/noise';

const ADDRESS = 'https://github.com/someone/parley';
let scratch: string;

describe('publishing', () => {
  beforeEach(() => {
    scratch = realpathSync(mkdtempSync(join(tmpdir(), 'parley-release-')));
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  describe("the package's addresses", () => {
    const repository = { type: 'git', url: `git+${ADDRESS}.git` };

    it("come from the repository in package.json, with the version tag's files", () => {
      assert.deepEqual(baseUrls({ version: '1.2.3', repository }), {
        links: `${ADDRESS}/blob/v1.2.3/`,
        pictures: 'https://raw.githubusercontent.com/someone/parley/v1.2.3/',
      });
      const manifest: AddressedManifest = { version: '1.2.3', repository };
      const { bugs, homepage } = withPages(manifest);
      assert.deepEqual([bugs, homepage], [{ url: `${ADDRESS}/issues` }, ADDRESS]);
    });

    it('come from --base-url for an unknown host, and are never invented', () => {
      const elsewhere = { version: '1.2.3', repository: 'https://git.example/parley' };
      assert.equal(baseUrls(elsewhere), undefined);
      assert.equal(baseUrls({ version: '1.2.3' }), undefined);
      assert.equal(baseUrls(elsewhere, 'http://cdn.example/1.2.3'), undefined);
      assert.equal(baseUrls(elsewhere, 'https://cdn.example/1.2.3')?.pictures, 'https://cdn.example/1.2.3/');
      assert.deepEqual(withPages({ version: '1.2.3' }), { version: '1.2.3' });
    });
  });

  describe('release checks', () => {
    const READY: ReleaseFacts = {
      manifest: { version: '1.2.3', repository: ADDRESS },
      lockedVersion: '1.2.3',
      changelog:
        '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- A change\n\n## [1.2.2] - 2026-01-01\n\n- B\n',
      changes: '',
      tags: ['v1.2.3'],
      preRelease: false,
    };
    const pre = { manifest: { ...READY.manifest, version: '1.3.3' }, lockedVersion: '1.3.3' };

    it('pass for a release that is ready', () => {
      assert.deepEqual(releaseProblems(READY), []);
      const changelog = READY.changelog.replaceAll('1.2.3', '1.3.3');
      assert.deepEqual(releaseProblems({ ...READY, ...pre, changelog, tags: ['v1.3.3'], preRelease: true }), []);
    });

    const cases: readonly (readonly [about: string, facts: Partial<ReleaseFacts>, problem: RegExp])[] = [
      ['a suffix', { manifest: { ...READY.manifest, version: '1.2.3-beta' } }, /not of the form/],
      ['an even version as a pre-release', { preRelease: true }, /is a release/],
      ['an odd version as a release', pre, /is a pre-release/],
      ['another version in the lock file', { lockedVersion: '1.2.2' }, /package-lock/],
      ['no section in the changelog', { changelog: '# Changelog\n' }, /no section/],
      ['a section without a date', { changelog: '## [1.2.3]\n\n- A\n' }, /no section/],
      ['an empty section', { changelog: '## [1.2.3] - 2026-01-31\n\n## [1.2.2] - 2026-01-01\n' }, /is empty/],
      [
        'changes that no version has',
        { changelog: `## [Unreleased]\n\n- B\n\n${READY.changelog.slice(READY.changelog.indexOf('## [1.2.3]'))}` },
        /Unreleased/,
      ],
      ['changes in the tree', { changes: ' M src/extension.ts\n' }, /working tree/],
      ['no tag', { tags: ['v1.2.2'] }, /no tag v1\.2\.3/],
      ['no repository', { manifest: { version: '1.2.3' } }, /repository/],
      ['a repository that no browser opens', { manifest: { version: '1.2.3', repository: 'git@a:b' } }, /repository/],
    ];
    for (const [about, facts, problem] of cases)
      it(`fail: ${about}`, () => {
        const problems = releaseProblems({ ...READY, ...facts });
        assert.ok(
          problems.some((one) => problem.test(one)),
          problems.join('\n'),
        );
      });
  });

  describe('package checks', () => {
    const png = Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      Buffer.from([0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 1, 0, 0, 0, 1, 0, 8, 6, 0, 0, 0]),
    ]);
    const manifest = {
      name: 'parley',
      publisher: 'someone',
      version: '1.2.3',
      displayName: 'Parley',
      description: 'Chat with agents',
      license: 'MIT',
      icon: 'icon.png',
      main: './dist/extension.js',
      categories: ['AI'],
      keywords: ['agent'],
      engines: { vscode: '^1.106.0' },
    };
    const assets = ['Services.Content.Details', 'Services.Content.Changelog', 'Services.Content.License'];
    const xml = (identity: string): string =>
      [
        `<Identity Language="en-US" ${identity}/><Tags>agent</Tags>`,
        ...[...assets, 'Services.Icons.Default'].map((asset) => `<Asset Type="Microsoft.VisualStudio.${asset}"/>`),
      ].join('\n');
    const GOOD: Readonly<Record<string, string | Buffer>> = {
      'extension.vsixmanifest': xml('Id="parley" Version="1.2.3" Publisher="someone"'),
      'extension/package.json': JSON.stringify(manifest),
      'extension/readme.md': '# Parley\n\n![A panel](https://a.example/panel.png) [Docs](https://a.example/docs.md)\n',
      'extension/changelog.md': '# Changelog\n',
      'extension/icon.png': png,
      'extension/dist/extension.js': '',
    };

    async function problemsOf(
      files: Readonly<Record<string, string | Buffer | undefined>>,
    ): Promise<readonly string[]> {
      const whole = Object.entries({ ...GOOD, ...files }).filter(
        (file): file is [string, string | Buffer] => file[1] !== undefined,
      );
      const path = join(scratch, 'package.vsix');
      writeFileSync(path, await zipOf(whole.map(([name, text]) => ({ name, text }))));
      return vsixProblems(path);
    }

    it('pass for a valid package', async () => assert.deepEqual(await problemsOf({}), []));

    const about = (fields: Readonly<Record<string, unknown>>): Record<string, string> => ({
      'extension/package.json': JSON.stringify({ ...manifest, ...fields }),
    });
    const readme = (text: string): Record<string, string> => ({ 'extension/readme.md': text });
    const cases: readonly (readonly [name: string, files: Record<string, string | Buffer | undefined>, is: RegExp])[] =
      [
        ['another version in its own manifest', about({ version: '1.2.4' }), /not about the same version/],
        ['a version with a suffix', about({ version: '1.2.3-beta' }), /of the form 1\.2\.3/],
        ['no publisher', about({ publisher: undefined }), /publisher/],
        ['API that is only proposed', about({ enabledApiProposals: ['chat'] }), /enabledApiProposals/],
        ['packages to install', about({ dependencies: { zod: '4.0.0' } }), /dependencies/],
        ['no licence', about({ license: undefined }), /no license/],
        ['a name that is a key', about({ displayName: '%name%' }), /not translated/],
        ['invisible characters', about({ description: 'Chat\u200b' }), /invisible/],
        ['an unknown category', about({ categories: ['Cooking'] }), /category Cooking/],
        ['a repository that is no address', about({ repository: 'someone/parley' }), /repository/],
        ['an SVG for an icon', { 'extension/icon.png': '<svg/>' }, /not a PNG/],
        ['a small icon', { 'extension/icon.png': Buffer.from(png).fill(64, 19, 20) }, /× /],
        ['no icon', { 'extension/icon.png': undefined }, /no icon/],
        ['no code', { 'extension/dist/extension.js': undefined }, /extension\.js is missing/],
        [
          'a page of the walkthrough without its picture',
          {
            ...about({ contributes: { walkthroughs: [{ steps: [{ media: { markdown: 'media/a.md' } }] }] } }),
            'extension/media/a.md': '![A](a.webp)',
          },
          /media\/a\.webp is missing/,
        ],
        ['a source map', { 'extension/dist/extension.js.map': '{}' }, /does not belong/],
        ['a file of secrets', { 'extension/.env': 'TOKEN=1' }, /does not belong/],
        ['an empty README', readme(''), /empty/],
        ['a relative link', readme('[Docs](docs/agents.md)'), /leads nowhere/],
        ['a picture without encryption', readme('![a](http://a.example/a.png)'), /not https/],
        ['an SVG', readme('![a](https://a.example/a.svg)'), /SVG/],
        ['HTML with a script', readme('<script>1</script>'), /refused/],
        ['more than 3 MB', { 'extension/big': Buffer.from(noise(3_100_000)) }, /bytes/],
      ];
    for (const [name, files, problem] of cases)
      it(`fail: ${name}`, async () => {
        const problems = await problemsOf(files);
        assert.ok(
          problems.some((one) => problem.test(one)),
          problems.join('\n'),
        );
      });
  });

  describe('a registry token', () => {
    it("is passed only to the registry's program, and never printed", async () => {
      const env: NodeJS.ProcessEnv = { VSCE_PAT: 'secret-one', OVSX_PAT: 'secret-two', PATH: '/bin' };
      const tokens = takeTokens(env);
      assert.deepEqual(env, { PATH: '/bin' });
      const program = join(scratch, 'program.js');
      writeFileSync(program, 'console.log(process.env.VSCE_PAT, process.env.OVSX_PAT, process.argv.slice(2));');
      const registry: Registry = { name: 'A', token: 'OVSX_PAT', program: () => program, args: () => [] };
      let printed = '';
      const print = (text: string): void => {
        printed += text;
      };
      assert.ok(await runPublisher(registry, program, ['publish'], tokens.get('OVSX_PAT'), print));
      assert.equal(printed, "undefined *** [ 'publish' ]\n");
    });
  });
});
