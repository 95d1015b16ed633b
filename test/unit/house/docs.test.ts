// The README, docs/, CONTRIBUTING.md and the walkthrough are true: their names, paths, links and
// examples exist, and nothing that a user needs is missing.
import { strict as assert } from 'node:assert';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { generatedPages } from '../../../scripts/lib/generatedPages';
import { type SettingsManifest, settingsOf } from '../../../scripts/lib/settingsTables';
import { packagedReadme } from '../../../scripts/lib/stagePackage';
import { LANGUAGES } from '../../../scripts/lib/texts';
import { parseAgents } from '../../../src/agents/agentDefinition';
import { UNLISTED_COMMANDS } from '../../../src/workbench/activation/unlistedCommands';
import { sources } from './sources';

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly contributes: SettingsManifest<unknown>['contributes'] & {
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly keybindings: readonly { readonly key: string; readonly mac: string }[];
    readonly views: Readonly<Record<string, readonly { readonly id: string }[]>>;
    readonly walkthroughs: readonly {
      readonly steps: readonly { readonly id: string; readonly media: { readonly markdown: string } }[];
    }[];
  };
}

/** A text for people, with its path relative to the root. */
interface Page {
  readonly path: string;
  readonly text: string;
}

/** Labels of VS Code, which no file here names. */
const OF_VSCODE = ['Developer: Reload Window'];
const MOST_LINES = 100;

const root = process.cwd();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const page = (path: string): Page => ({ path, text: read(path) });
const pagesIn = (folder: string): readonly Page[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => page(`${folder}/${name}`));

const manifest = JSON.parse(read('package.json')) as Manifest;
const texts = JSON.parse(read('package.nls.json')) as Readonly<Record<string, string>>;
const { commands, keybindings, views, walkthroughs } = manifest.contributes;
const settingKeys = Object.keys(settingsOf(manifest));
const titleOf = (title: string): string => texts[title.replaceAll('%', '')] ?? title;
const steps = walkthroughs.flatMap((walkthrough) => walkthrough.steps);
const readme = page('README.md');
const contributing = page('CONTRIBUTING.md');
const docs = pagesIn('docs');
const decisions = pagesIn('docs/decisions');
const forEngineers = [contributing, page('SECURITY.md'), page('findings/README.md'), ...decisions];
const settings = page('docs/settings.md');
const forUsers = [readme, ...docs, ...steps.map(({ media }) => page(media.markdown))];

/** The page that VS Code shows in a language in place of another one. */
const localized = (path: string, language: string): string => path.replace(/\.md$/, `.nls.${language}.md`);

function found(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, group]) => group ?? ''))];
}

function row({ text }: Page, key: string): readonly string[] {
  const line = text.split('\n').find((one) => one.startsWith('|') && one.includes(`| \`${key}\` |`));
  return line?.split('|').map((cell) => cell.trim()) ?? [];
}

function prose(text: string): string {
  return text.replace(/^[ \t]*```[\s\S]*?^[ \t]*```$/gm, '');
}

function anchorsOf(text: string): readonly string[] {
  return found(prose(text), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function brokenLinks({ path, text }: Page, files?: readonly string[]): readonly string[] {
  return found(prose(text), /\]\(([^)\s]+)\)/g).filter((target) => {
    if (target.startsWith('https://')) return false;
    const [file = '', anchor] = target.split('#');
    const there = file === '' ? path : relative(root, join(root, dirname(path), file)).replaceAll('\\', '/');
    const exists = files?.includes(there) ?? existsSync(join(root, there));
    return !exists || (anchor !== undefined && !anchorsOf(read(there)).includes(anchor));
  });
}

describe('the documentation', () => {
  it('has a README of two screens', () => {
    assert.ok(readme.text.split('\n').length <= MOST_LINES);
  });

  it('has fresh generated parts (npm run docs)', () => {
    for (const { path, text } of generatedPages(root)) assert.equal(read(path), text, path);
  });

  it('lists each setting', () => {
    for (const key of settingKeys) assert.ok(row(settings, key).length > 0, key);
  });

  it('lists each command by the title that the palette shows', () => {
    for (const { command, title } of commands)
      assert.ok(row(settings, command).includes(titleOf(title)), `${command}, ${titleOf(title)}`);
  });

  it('lists each command that is only for keyboard shortcuts and other extensions', () => {
    const ofRows = ['parley.sessionList.open', 'parley.sessionList.more'];
    const missing = UNLISTED_COMMANDS.filter((id) => !ofRows.includes(id) && !settings.text.includes(`| \`${id}\` |`));
    assert.deepEqual(missing, []);
  });

  it('lists each keyboard shortcut', () => {
    const written = settings.text.toLowerCase();
    for (const key of keybindings.flatMap((binding) => [binding.key, binding.mac]))
      assert.ok(written.includes(`\`${key}\``), key);
  });

  it('names only settings, commands and views that exist', () => {
    const known = new Set([
      ...settingKeys,
      ...commands.map(({ command }) => command),
      ...UNLISTED_COMMANDS,
      ...Object.values(views).flatMap((list) => list.map(({ id }) => id)),
    ]);
    const inTexts = { path: 'package.nls.json', text: Object.values(texts).join('\n') };
    for (const { path, text } of [...forUsers, contributing, inTexts]) {
      const named = found(text, /(?<=[`"#:])(parley\.[A-Za-z][\w.]*)(?=[`"#)])/g);
      const unknown = named.filter((name) => !known.has(name) && name !== 'parley.parley');
      assert.deepEqual(unknown, [], path);
    }
  });

  it('names commands of the palette by their titles', () => {
    // VS Code makes the last one for the view.
    const titles = [...commands.map(({ title }) => titleOf(title)), `Focus on ${texts['view.chat']} View`];
    for (const { path, text } of [...forUsers, ...forEngineers]) {
      const named = found(text, /\*\*Parley: ([^*]+)\*\*/g);
      assert.deepEqual(
        named.filter((title) => !titles.includes(title)),
        [],
        path,
      );
    }
  });

  it('names buttons by the words that are on them', () => {
    const titles = Object.values(texts);
    const code = sources().map(({ text }) => text);
    const isInCode = (label: string): boolean =>
      code.some((one) => one.includes(`'${label}'`) || one.includes(`' ${label}'`));
    for (const { path, text } of [readme, ...docs]) {
      // Bold text with a full stop at its end is a heading within a paragraph.
      const unknown = found(prose(text), /\*\*([^*]+)\*\*/g).filter(
        (label) => !/^Parley: |\.$/.test(label) && ![...OF_VSCODE, ...titles].includes(label) && !isInCode(label),
      );
      assert.deepEqual(unknown, [], path);
    }
  });

  it('gives examples of settings that Parley accepts', () => {
    const examples = forUsers.flatMap(({ path, text }) =>
      found(text, /^[ \t]*```json\n([\s\S]*?)^[ \t]*```$/gm).map((json) => ({ path, json })),
    );
    assert.ok(examples.length > 0);
    for (const { path, json } of examples) {
      const value = JSON.parse(json) as Record<string, unknown>;
      assert.deepEqual(parseAgents(value['parley.agents']).problems, [], `${path}: ${json}`);
      if ('key' in value)
        assert.ok(
          [...commands.map(({ command }) => command), ...UNLISTED_COMMANDS].includes(String(value.command)),
          json,
        );
      else for (const key of Object.keys(value)) assert.ok(settingKeys.includes(key), `${path}: ${key}`);
    }
  });

  it('has only links and anchors that resolve', () => {
    for (const one of [readme, page('CHANGELOG.md'), ...docs, ...forEngineers])
      assert.deepEqual(brokenLinks(one), [], one.path);
  });

  it('links to each page from the README and from the first page of docs', () => {
    const names = docs.map(({ path }) => path).filter((path) => path !== 'docs/README.md');
    const index = page('docs/README.md');
    assert.deepEqual(
      names.filter((path) => !readme.text.includes(`](${path})`) || !index.text.includes(`](${path.slice(5)})`)),
      [],
    );
  });

  it('lists each decision on the first page of decisions', () => {
    const index = page('docs/decisions/README.md').text;
    const names = decisions
      .map(({ path }) => path.slice('docs/decisions/'.length))
      .filter((name) => name !== 'README.md');
    assert.deepEqual(
      names.filter((name) => !index.includes(`](${name})`)),
      [],
    );
  });

  it('shows the picture of the panel in the README', () => {
    assert.ok(readme.text.includes('](media/screenshot.png)'));
  });
});

describe('the documentation in the package', () => {
  const shipped = read('test/golden/vsix-files.txt').trim().split('\n');

  it('has a README whose links all work on the page of the extension', () => {
    const text = packagedReadme(readme.text);
    assert.deepEqual(brokenLinks({ path: readme.path, text }, []), []);
    assert.ok(!text.includes('media/'));
    assert.ok(text.includes('- Agents: '));
  });

  it('links only to pages that are in the package too', () => {
    for (const one of docs) assert.deepEqual(brokenLinks(one, shipped), [], one.path);
  });
});

describe('CONTRIBUTING', () => {
  it('names each script of package.json, and only those', () => {
    const named = new Set([
      ...found(contributing.text, /\bnpm run ([\w:-]+)/g),
      ...found(contributing.text, /\bnpm (start|test)\b/g),
    ]);
    assert.deepEqual([...named].sort(), Object.keys(manifest.scripts).sort());
  });

  it('names only files that exist', () => {
    for (const { path, text } of [readme, ...docs, ...forEngineers]) {
      const paths = found(text, /`((?:src|test|scripts)\/[\w./-]+)`/g);
      assert.deepEqual(
        paths.filter((one) => !existsSync(join(root, one))),
        [],
        path,
      );
    }
  });

  it('names only classes and functions that exist', () => {
    const code = [...sources(), ...sources('scripts')].map(({ text }) => text).join('\n');
    const named = found(contributing.text, /`([A-Z][A-Za-z]+(?:\.(?!md\b)\w+)?)`/g);
    assert.ok(named.length > 0);
    const unknown = named.filter((name) =>
      name
        .split('.')
        .some((part) => !new RegExp(`(?:\\b(?:class|const|function) |^ {2}(?:async )?)${part}\\b`, 'm').test(code)),
    );
    assert.deepEqual(unknown, []);
  });

  it('describes each room of src with its sub-rooms', () => {
    const folders = (path: string): readonly string[] =>
      readdirSync(join(root, path), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);
    for (const room of folders('src')) {
      const cells = row(contributing, `src/${room}`);
      assert.ok(cells.length > 0, room);
      const missing = folders(`src/${room}`).filter((name) => !cells.join(' ').includes(`\`${name}\``));
      assert.deepEqual(missing, [], room);
    }
  });
});

describe('the walkthrough', () => {
  it('has buttons for commands that exist', () => {
    const linked = found(Object.values(texts).join('\n'), /\(command:([\w.]+)\)/g);
    assert.ok(linked.length > 0);
    assert.deepEqual(
      linked.filter((id) => !commands.some(({ command }) => command === id)),
      [],
    );
  });

  it('shows pages that are in the package, in every language', () => {
    const shipped = read('test/golden/vsix-files.txt').trim().split('\n');
    const paths = steps.flatMap(({ media }) => [
      media.markdown,
      ...LANGUAGES.map((one) => localized(media.markdown, one)),
    ]);
    assert.deepEqual(
      paths.filter((path) => !shipped.includes(path)),
      [],
    );
  });

  for (const language of LANGUAGES)
    it(`names buttons and commands, and has code and commands of the demo, as in English: ${language}`, () => {
      const translated = Object.values({
        ...JSON.parse(read(`package.nls.${language}.json`)),
        ...JSON.parse(read(`l10n/bundle.l10n.${language}.json`)),
      });
      for (const { media } of steps) {
        const [english, other] = [read(media.markdown), read(localized(media.markdown, language))];
        const codes = (text: string): readonly string[] => found(text, /(`[^`]+`|^```[\s\S]*?^```$)/gm);
        assert.deepEqual(codes(other), codes(english), media.markdown);
        const lists = found(other, /^(- \*\*.*)$/gm).join('\n');
        const labels = found(lists, /\*\*([^*]+)\*\*/g);
        assert.deepEqual(
          labels.filter((label) => !translated.includes(label)),
          [],
          media.markdown,
        );
      }
    });
});
